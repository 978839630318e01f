import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { errors } from './environment-errors.ts'
import { isWaypostError, messageOf } from './errors.ts'

/** Variables by name, as they stand in the environment. */
export type Variables = Readonly<Record<string, string | undefined>>

/**
 * The environment of this process over the `.env` of a folder: what is set outside wins over the file.
 * This is the one place that reads `process.env`.
 * @throws WP_KIT_ENV_FILE
 */
export function readEnvironment(folder?: string): Variables {
  const file = folder === undefined ? {} : readFile(path.join(folder, '.env'), { mayBeMissing: true })
  return { ...file, ...process.env }
}

/** The variables in a file of lines `NAME=value`. @throws WP_KIT_ENV_FILE, also if there is no such file */
export function readEnvFile(file: string): Variables {
  return readFile(file, { mayBeMissing: false })
}

/**
 * Brings what was read of a folder up to date with its `.env`, for everybody who holds it.
 * @returns the names of the variables whose value is another one now
 * @throws WP_KIT_ENV_FILE; nothing has changed then
 */
export function refreshEnvironment(variables: Variables, folder: string): string[] {
  const held = variables as Record<string, string | undefined>
  const now = readEnvironment(folder)
  const changed = [...new Set([...Object.keys(held), ...Object.keys(now)])].filter((name) => held[name] !== now[name])
  for (const name of changed) {
    if (now[name] === undefined) delete held[name]
    else held[name] = now[name]
  }
  return changed
}

/** Sets variables in the environment of this process, for libraries that read it themselves. */
export function passOn(variables: Variables, prefix: string): void {
  for (const [name, value] of Object.entries(variables)) {
    if (name.startsWith(prefix) && value !== undefined) process.env[name] = value
  }
}

const maxBytes = 1024 * 1024

function readFile(file: string, { mayBeMissing }: { mayBeMissing: boolean }): Variables {
  let descriptor: number | undefined
  try {
    // Looked at when it is open, so that what is checked is what is read; without O_NONBLOCK a pipe would hang.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const opened = fstatSync(descriptor)
    if (opened.isDirectory()) throw errors.WP_KIT_ENV_FILE({ file, reason: 'it is a folder' })
    if (!opened.isFile()) throw errors.WP_KIT_ENV_FILE({ file, reason: 'it is not a regular file' })
    if (opened.size > maxBytes) throw errors.WP_KIT_ENV_FILE({ file, reason: 'it is larger than 1 MB' })
    return parseEnv(readFileSync(descriptor, 'utf8'))
  } catch (cause) {
    if (isWaypostError(cause)) throw cause
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' && mayBeMissing) return {}
    throw errors.WP_KIT_ENV_FILE({ file, reason: reasons[code ?? ''] ?? messageOf(cause) }, { cause })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOENT: 'it does not exist',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is not a regular file',
}

/** A variable's value; one that is set to nothing counts as missing. */
export function variable(variables: Variables, name: string): string | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined
  return value === '' ? undefined : value
}
