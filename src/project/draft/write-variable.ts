import { lstatSync, readFileSync, renameSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { draftErrors as errors } from '../../backend/index.ts'
import { makeId } from '../../kit/index.ts'
import { assertVariableName } from '../../operate/index.ts'

/** Programs that `dev` and scripts start would obey these. */
const ownNames = /^(NODE_.*|npm_.*|LD_.*|DYLD_.*|PATH|__proto__|HOME|SHELL|IFS|ENV|BASH_ENV)$/i

/**
 * Sets a variable in the `.env` of a folder, which only its owner can read afterwards. Other lines stay as they are.
 * @throws WP_SERVER_VARIABLE_NAME, WP_SERVER_VARIABLE_RESERVED, WP_BACKEND_DRAFT_VARIABLE
 */
export async function writeVariable(folder: string, name: string, value: string): Promise<void> {
  assertVariableName(name)
  const fail = (reason: string) => errors.WP_BACKEND_DRAFT_VARIABLE({ name, reason })
  if (ownNames.test(name)) throw fail('programs that dev starts would use it')
  const file = path.join(folder, '.env')
  const before = read(file, fail)
  const next = setIn(before ?? '', name, value)
  if (next === undefined) throw fail('a .env file cannot contain this value')
  const draft = path.join(folder, `.env.${makeId('')}`)
  try {
    await writeFile(draft, next, { flag: 'wx', mode: 0o600 })
    if (read(file, fail) !== before) throw fail('another program is changing .env')
    renameSync(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

function read(file: string, fail: (reason: string) => Error): string | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isFile() || stats.size > 1024 * 1024) throw fail('.env is not a regular file of up to 1 MB')
  return readFileSync(file, 'utf8')
}

/** Returns the text after the change; undefined if the parser would not read exactly this value and all others. */
function setIn(text: string, name: string, value: string): string | undefined {
  const wanted = JSON.stringify(sort({ ...parseEnv(text), [name]: value }))
  const ended = text === '' || text.endsWith('\n') ? text : `${text}\n`
  const line = new RegExp(`^([ \\t]*(?:export[ \\t]+)?)${name}[ \\t]*=.*$`, 'm')
  const written = ['', "'", '"', '`'].map((quote) => `${name}=${quote}${value}${quote}`)
  const candidates = written.flatMap((one) => [
    ...(line.test(text) ? [text.replace(line, (_, start: string) => start + one)] : []),
    `${ended}${one}\n`,
  ])
  return candidates.find((one) => JSON.stringify(sort(parseEnv(one))) === wanted)
}

function sort(variables: Readonly<Record<string, string | undefined>>) {
  return Object.entries(variables).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
