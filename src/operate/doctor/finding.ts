import path from 'node:path'
import { isWaypostError, messageOf, installation, readEnvFile, type Variables } from '../../kit/index.ts'

/** The result of one check of a host, its System or its project. Contains no secrets, so that it can be shared. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail' | 'skip'
  readonly message: string
  /** What to do next. */
  readonly next?: string
  /** A command to run. */
  readonly command?: string
}

/** Runs a check. Errors become findings. */
export async function runCheck(check: string, work: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await work()
  } catch (error) {
    return failure(check, error)
  }
}

/** Converts an error to a finding. */
export function failure(check: string, error: unknown): Finding {
  const hint = isWaypostError(error) ? error.hint : undefined
  return { check, state: 'fail', message: messageOf(error), ...(hint === undefined ? {} : { next: hint }) }
}

/** Returns a crontab line that runs a command in a folder every minute, with the current Node and Waypost. */
export function crontabLine(folder: string, command: string): string {
  const words = [process.execPath, path.join(installation, 'bin', 'run.js')].map(quote)
  return `* * * * * cd ${quote(folder)} && ${words.join(' ')} ${command}`
}

/** Quotes a word for the shell, and for cron, where "%" ends a line. */
function quote(word: string): string {
  const quoted = /^[\w@+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
  return quoted.replaceAll('%', '\\%')
}

/**
 * Returns the variables that are set in this shell but not in `.env`, where cron would find them. It also finds those in
 * System.
 */
export function findMissingForCron(
  folder: string,
  environment: Variables,
  names: readonly string[],
): readonly string[] {
  const file = readEnv(path.join(folder, '.env'))
  return names.filter((name) => (environment[name] ?? '') !== '' && (file[name] ?? '') === '')
}

function readEnv(file: string): Variables {
  try {
    return readEnvFile(file)
  } catch {
    return {}
  }
}
