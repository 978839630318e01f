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
