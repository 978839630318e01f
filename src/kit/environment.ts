import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { errors } from './environment-errors.ts'
import { isWaypostError, messageOf } from './errors.ts'
import { decodeText, findEncodingProblem } from './encoding.ts'

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The files with variables that every command reads. */
const commonFiles: readonly string[] = ['.env']

/**
 * Returns the names of the files with variables that `dev` and the commands beside it read in a folder: those of the mode
 * that `WAYPOST_MODE` names, by default `development`. The last one takes precedence. A folder without a project has only `.env`.
 * @throws WP_KIT_MODE
 */
export function listEnvFiles(folder: string): readonly string[] {
  if (!existsSync(path.join(folder, 'waypost.yml'))) return commonFiles
  const mode = variable(process.env, 'WAYPOST_MODE') ?? 'development'
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(mode) || mode === 'local') throw errors.WP_KIT_MODE({ mode: mode.slice(0, 64) })
  return ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`]
}

/**
 * Reads the environment of this process and files of a folder, by default `.env`. Variables of the process override the
 * files. This is the only place that reads `process.env`.
 * @throws WP_KIT_ENV_FILE
 */
export function readEnvironment(folder?: string, files?: readonly string[]): Variables {
  if (folder === undefined) return { ...process.env }
  const sources = readSources(folder, files)
  return Object.assign({}, ...sources.files.map(({ variables }) => variables), sources.process) as Variables
}

/** A file with variables. */
export interface EnvFile {
  readonly name: string
  /** Empty if the file does not exist. */
  readonly variables: Variables
}

/**
 * Reads the variables of this process, and those in files of a folder, which the former override; the last file takes precedence.
 * @throws WP_KIT_ENV_FILE
 */
export function readSources(
  folder: string,
  files: readonly string[] = commonFiles,
): { readonly process: Variables; readonly files: readonly EnvFile[] } {
  const read = (name: string) => readFile(path.join(folder, name), { mayBeMissing: true })
  return { process: { ...process.env }, files: files.map((name) => ({ name, variables: read(name) })) }
}

/** Where a variable is set: in the environment of the process, or in a file such as `.env.local`. */
export type LocalSource = 'environment' | `.env${string}`

/** Returns where a variable is set, the place that takes precedence first. */
export function findLocalSources(
  { process: own, files }: ReturnType<typeof readSources>,
  name: string,
): readonly LocalSource[] {
  const found = files
    .filter(({ variables }) => variable(variables, name) !== undefined)
    .map((file) => file.name as LocalSource)
  return [...(variable(own, name) === undefined ? [] : ['environment' as const]), ...found.toReversed()]
}

/**
 * Reads the variables in a file of `NAME=value` lines.
 * @throws WP_KIT_ENV_FILE, also if the file does not exist
 */
export function readEnvFile(file: string): Variables {
  return readFile(file, { mayBeMissing: false })
}

/**
 * Updates `variables`, which were read from a folder, in place, so that all code that holds them sees the changes of
 * its files.
 * @returns the names of the variables whose value changed
 * @throws WP_KIT_ENV_FILE; nothing has changed then
 */
export function refreshEnvironment(variables: Variables, folder: string, files?: readonly string[]): string[] {
  const current = variables as Record<string, string | undefined>
  const now = readEnvironment(folder, files)
  const changed = [...new Set([...Object.keys(current), ...Object.keys(now)])].filter(
    (name) => current[name] !== now[name],
  )
  for (const name of changed) {
    if (now[name] === undefined) delete current[name]
    else current[name] = now[name]
  }
  return changed
}

/** Sets variables in the environment of this process, for libraries that read it themselves. */
export function exportVariables(variables: Variables, prefix: string): void {
  for (const [name, value] of Object.entries(variables)) {
    if (name.startsWith(prefix) && value !== undefined) process.env[name] = value
  }
}

const maxBytes = 1024 * 1024

function readFile(file: string, { mayBeMissing }: { mayBeMissing: boolean }): Variables {
  let descriptor: number | undefined
  try {
    // Check the open file, so that the checked file is the one that is read. Without O_NONBLOCK, opening a pipe would
    // block.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const opened = fstatSync(descriptor)
    if (opened.isDirectory()) throw errors.WP_KIT_ENV_FILE({ file, reason: 'it is a folder' })
    if (!opened.isFile()) throw errors.WP_KIT_ENV_FILE({ file, reason: 'it is not a regular file' })
    if (opened.size > maxBytes) throw errors.WP_KIT_ENV_FILE({ file, reason: 'it is larger than 1 MB' })
    return parseVariables(readFileSync(descriptor), (reason) => errors.WP_KIT_ENV_FILE({ file, reason }))
  } catch (cause) {
    if (isWaypostError(cause)) throw cause
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' && mayBeMissing) return {}
    throw errors.WP_KIT_ENV_FILE({ file, reason: reasons[code ?? ''] ?? messageOf(cause) }, { cause })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The start of a line: spaces, `export`, a name, an equals sign, and the quote of its value if it has one. */
const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(["'`]?)/

/**
 * Parses lines of the form NAME=value. `parseEnv` skips what it does not understand, and the program would run with
 * other variables than the file shows.
 * @throws what `fail` returns: text that is not UTF-8, another form of line, a quote that is not closed or followed by
 *   text, a name given twice
 */
export function parseVariables(bytes: Uint8Array, fail: (reason: string) => Error): Variables {
  const encoding = findEncodingProblem(bytes)
  if (encoding !== undefined) throw fail(encoding.reason)
  const text = decodeText(bytes)
  locateVariables(text, fail)
  return parseEnv(text)
}

/** The lines that set a variable, from 0; the end is exclusive. */
export interface VariableLines {
  readonly start: number
  readonly end: number
}

/**
 * Finds the lines of each variable in a text, as `parseVariables` reads it.
 * @throws what `fail` returns
 */
export function locateVariables(text: string, fail: (reason: string) => Error): ReadonlyMap<string, VariableLines> {
  const found = new Map<string, VariableLines>()
  const lines = text.replaceAll('\r', '').split('\n') // parseEnv ignores carriage returns
  for (let i = 0; i < lines.length; i++) {
    if (/^[ \t]*(?:#|$)/.test(lines[i]!)) continue
    const start = i
    const [matched, name = '', quote = ''] = assignment.exec(lines[i]!) ?? []
    if (matched === undefined) throw fail(`line ${start + 1} is not of the form NAME=value`)
    const earlier = found.get(name)
    if (earlier !== undefined) throw fail(`lines ${earlier.start + 1} and ${start + 1} both set ${name}`)
    let rest = lines[i]!.slice(matched.length)
    while (!rest.includes(quote)) {
      i += 1
      if (i === lines.length) throw fail(`the quote in line ${start + 1} is not closed`)
      rest = lines[i]!
    }
    const after = quote === '' ? '' : rest.slice(rest.indexOf(quote) + 1)
    if (!/^[ \t]*(?:#|$)/.test(after)) throw fail(`in line ${i + 1}, text follows the closing quote of ${name}`)
    found.set(name, { start, end: i + 1 })
  }
  return found
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOENT: 'it does not exist',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is not a regular file',
}

/** Returns a variable's value; an empty value counts as missing. */
export function variable(variables: Variables, name: string): string | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined
  return value === '' ? undefined : value
}

const cacheVariable = 'NODE_COMPILE_CACHE'

/**
 * Returns the environment of a thread or process that needs no variables: where compiled code is cached, which halves the
 * time until it has started.
 */
export function makeBareEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir() // of this version of Node, in the folder that the variable names
  return folder === undefined ? {} : { [cacheVariable]: path.dirname(folder) }
}

/** Empties the environment of a thread that started with a bare one: Node has read it. */
export function clearBareEnvironment(): void {
  delete process.env[cacheVariable]
}

/** Returns the user's folder; undefined for a user without a name and without `HOME`, as in some containers. */
export function findHome(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
