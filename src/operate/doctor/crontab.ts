import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { installation, type Variables } from '../../kit/index.ts'

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
