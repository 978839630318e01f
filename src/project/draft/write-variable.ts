import { lstatSync, readFileSync, renameSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { draftErrors as errors } from '../../backend/index.ts'
import { decodeText, locateVariables, makeId, parseVariables } from '../../kit/index.ts'
import { assertVariableName } from '../../operate/index.ts'

/** Programs that `dev` and scripts start would obey these. */
const ownNames = /^(NODE_.*|npm_.*|LD_.*|DYLD_.*|PATH|__proto__|HOME|SHELL|IFS|ENV|BASH_ENV)$/i

/**
 * Sets a variable in the file that sets it, otherwise in `.env`. Only its owner can read the file afterwards. Other lines stay as they are.
 * @param files those from which variables are read; the last one takes precedence
 * @throws WP_SERVER_VARIABLE_NAME, WP_SERVER_VARIABLE_RESERVED, WP_BACKEND_DRAFT_VARIABLE
 */
export async function writeVariable(folder: string, { name, value, files = ['.env'] }: VariableToWrite): Promise<void> {
  assertVariableName(name)
  const fail = (reason: string) => errors.WP_BACKEND_DRAFT_VARIABLE({ name, reason })
  if (ownNames.test(name)) throw fail('programs that dev starts would use it')
  const base =
    files.findLast((one) => locateVariables(read(path.join(folder, one), fail) ?? '', invalid).has(name)) ?? '.env'
  const file = path.join(folder, base)
  const before = read(file, fail)
  const next = setIn(before ?? '', name, value)
  if (next === undefined) throw fail(`${base} cannot contain this value`)
  const draft = path.join(folder, `.env.${makeId('')}`)
  try {
    await writeFile(draft, next, { flag: 'wx', mode: 0o600 })
    if (read(file, fail) !== before) throw fail(`another program is changing ${base}`)
    renameSync(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

interface VariableToWrite {
  readonly name: string
  readonly value: string
  readonly files?: readonly string[] | undefined
}

/** Returns the text of the file, without a byte order mark. */
function read(file: string, fail: (reason: string) => Error): string | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isFile() || stats.size > 1024 * 1024)
    throw fail(`${path.basename(file)} is not a regular file of up to 1 MB`)
  const bytes = readFileSync(file)
  parseVariables(bytes, (reason) => fail(`in ${path.basename(file)}, ${reason}`))
  return decodeText(bytes)
}

/** Returns the text after the change; undefined if the parser would not read exactly this value and all others. */
function setIn(text: string, name: string, value: string): string | undefined {
  const wanted = JSON.stringify(sort({ ...parse(text), [name]: value }))
  const lines = text.replace(/\n$/, '').split('\n')
  const isEmpty = text === ''
  const { start, end } = locateVariables(text, invalid).get(name) ?? {
    start: isEmpty ? 0 : lines.length,
    end: lines.length,
  }
  const before = /^[ \t]*(?:export[ \t]+)?/.exec(lines[start] ?? '')![0]
  for (const quote of ['', "'", '"', '`']) {
    const changed = `${lines.toSpliced(start, end - start, `${before}${name}=${quote}${value}${quote}`).join('\n')}\n`
    try {
      if (JSON.stringify(sort(parse(changed))) === wanted) return changed
    } catch {
      // Another quote may do.
    }
  }
  return undefined
}

function parse(text: string) {
  return parseVariables(Buffer.from(text), invalid)
}

const invalid = (reason: string) => new Error(reason)

function sort(variables: Readonly<Record<string, string | undefined>>) {
  return Object.entries(variables).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
