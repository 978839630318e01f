import { readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '../..')

interface Manifest {
  readonly commands: Readonly<Record<string, Command>>
}

interface Command {
  readonly flags: Readonly<Record<string, Flag>>
  readonly args: Readonly<Record<string, { readonly required?: boolean }>>
  /** False if more words may follow the arguments. */
  readonly strict?: boolean
}

interface Flag {
  readonly name: string
  readonly type: 'boolean' | 'option'
  readonly char?: string
  readonly allowNo?: boolean
  readonly required?: boolean
  readonly options?: readonly string[]
  readonly delimiter?: string
}

/** The commands of the built command line, with their flags and arguments. */
export function loadCommands(): Manifest['commands'] {
  return (JSON.parse(readFileSync(path.join(root, 'oclif.manifest.json'), 'utf8')) as Manifest).commands
}

/** Whether a text shows a full command, or a sentence mentions parts of it. */
export type Extent = 'whole' | 'mentioned'

/** Returns what is wrong with a command line; undefined if it is valid. */
export function findWrongUse(
  commands: Manifest['commands'],
  [id = '', ...words]: readonly string[],
  extent: Extent,
): string | undefined {
  const command = commands[id]
  if (command === undefined) return hasTopic(commands, id) && extent === 'mentioned' ? undefined : `no command "${id}"`
  const { args, flags } = readWords(command, words)
  if (flags.some(({ word }) => word === '--help')) return undefined
  const wrong = flags.map((given) => findWrongFlag(given, extent)).find((problem) => problem !== undefined)
  if (wrong !== undefined) return `${id} ${wrong}`
  const count = Object.keys(command.args).length
  const limit = command.strict === false && count > 0 ? Infinity : count
  if (args.length > limit) return `${id} takes no argument "${args.at(-1)}"`
  return extent === 'whole' ? findMissing(command, { id, args, flags }) : undefined
}

interface GivenFlag {
  readonly word: string
  readonly flag: Flag | undefined
  readonly value: string | undefined
}

interface Given {
  readonly args: readonly string[]
  readonly flags: readonly GivenFlag[]
}

function readWords(command: Command, words: readonly string[]): Given {
  const left = words.includes('--') ? words.slice(0, words.indexOf('--')) : [...words] // then a command of others
  const args: string[] = []
  const flags: GivenFlag[] = []
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const [word = '', value] = next.split(/=(.*)/s)
    if (/^-[-\w]/.test(word)) {
      const flag = findFlag(command, word)
      flags.push({ word, flag, value: flag?.type === 'option' ? (value ?? left.shift()) : value })
    } else args.push(next)
  }
  return { args, flags }
}

function findWrongFlag({ word, flag, value }: GivenFlag, extent: Extent): string | undefined {
  if (flag === undefined) return `has no flag ${word}`
  if (flag.type === 'option' && value === undefined && extent === 'whole') return `${word} has no value`
  const { options, delimiter } = flag
  if (value === undefined || options === undefined) return undefined
  const wrong = (delimiter === ',' ? value.split(',') : [value]).find((one) => !options.includes(one))
  return wrong === undefined ? undefined : `${word} takes no ${wrong}`
}

function findMissing(
  { args: takes, flags: known }: Command,
  given: Given & { readonly id: string },
): string | undefined {
  const needed = Object.values(takes).filter(({ required }) => required).length
  if (given.args.length < needed) return `${given.id} lacks an argument`
  const isGiven = (name: string) => given.flags.some(({ flag }) => flag?.name === name)
  const lacking = Object.values(known).find(({ required, name }) => required && !isGiven(name))
  return lacking && `${given.id} lacks --${lacking.name}`
}

function findFlag({ flags }: Command, word: string): Flag | undefined {
  return Object.values(flags).find(
    ({ name, char, allowNo }) =>
      word === `--${name}` || (char !== undefined && word === `-${char}`) || (allowNo && word === `--no-${name}`),
  )
}

function hasTopic(commands: Manifest['commands'], topic: string): boolean {
  return Object.keys(commands).some((id) => id.startsWith(`${topic}:`))
}

/** Returns the Waypost commands in shell lines: the words after `waypost` or the launcher's file. */
export function commandsIn(text: string): string[][] {
  const lines = text.replaceAll(/\\\n\s*/g, ' ')
  const starts = /(?<![\w@/.:"-]|<!-- )(?:npx )?waypost(?= [a-z])|node_modules\/waypost\/bin\/run\.js(?= [a-z])/g
  return [...lines.matchAll(starts)].flatMap((match) => {
    const [rest = ''] = lines.slice(match.index + match[0].length).split('\n', 1)
    const words = splitWords(rest)
    return words.length === 0 ? [] : [words]
  })
}

/** Returns the words until the end of a shell command: a pipe, a comment, another command, a redirection. */
function splitWords(text: string): string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(/(?:"[^"]*"|'[^']*'|\$\{[^}]*\}|\$\([^)]*\)|[^\s"'$]|\$)+/g)) {
    if (/^(?:[|&;#>)<`]|\d?>)/.test(word)) break
    const end = /[;`)]|\\?\|/.exec(
      word.replaceAll(/"[^"]*"|'[^']*'|\$\{[^}]*\}|\$\([^)]*\)/g, (quoted) => 'x'.repeat(quoted.length)),
    )
    const cleaned = end === null ? word : word.slice(0, end.index)
    if (cleaned !== '') words.push(cleaned.replaceAll(/^\[|[\],.:]$/g, ''))
    if (end !== null) break
  }
  return words.filter((word) => word !== '' && !word.startsWith('${')) // optional parts are not arguments
}
