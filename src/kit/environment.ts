import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'

/** Variables by name, as they stand in the environment. */
export type Variables = Readonly<Record<string, string | undefined>>

/**
 * The environment of this process over the `.env` of a folder: what is set outside wins over the file.
 * This is the one place that reads `process.env`.
 */
export function readEnvironment(folder?: string): Variables {
  return { ...(folder === undefined ? {} : readEnvFile(path.join(folder, '.env'))), ...process.env }
}

/**
 * Brings what was read of a folder up to date with its `.env`, for everybody who holds it.
 * @returns the names of the variables whose value is another one now
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

function readEnvFile(file: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** A variable's value; one that is set to nothing counts as missing. */
export function variable(variables: Variables, name: string): string | undefined {
  const value = variables[name]
  return value === '' ? undefined : value
}
