import path from 'node:path'
import { isWaypostError, messageOf, installation, type Variables } from '../../kit/index.ts'
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/** What one look at a host, its System or its project found. It holds no secret: it is there to be shown around. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail' | 'skip'
  readonly message: string
  /** What to do next. */
  readonly next?: string
  /** A line to paste. */
  readonly command?: string
}

/** Looks, and takes what is thrown meanwhile for a finding too. */
export async function look(check: string, work: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await work()
  } catch (error) {
    return failure(check, error)
  }
}

/** An error as a finding. */
export function failure(check: string, error: unknown): Finding {
  const hint = isWaypostError(error) ? error.hint : undefined
  return { check, state: 'fail', message: messageOf(error), ...(hint === undefined ? {} : { next: hint }) }
}

/** The line of a crontab that runs a command in a folder each minute, by whichever Node and Waypost run this. */
export function crontabLine(folder: string, command: string): string {
  const words = [process.execPath, path.join(installation, 'bin', 'run.js')].map(quote)
  return `* * * * * cd ${quote(folder)} && ${words.join(' ')} ${command}`
}

/** For the shell, and for cron, to which "%" is the end of a line. */
function quote(word: string): string {
  const quoted = /^[\w@+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
  return quoted.replaceAll('%', '\\%')
}

/** Variables that are set here and that cron, which does not know this shell, would not find in `.env`. */
export function unknownToCron(folder: string, variables: Variables, names: readonly string[]): readonly string[] {
  const file = readEnv(path.join(folder, '.env'))
  return names.filter((name) => (variables[name] ?? '') !== '' && (file[name] ?? '') === '')
}

function readEnv(file: string): Variables {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}
