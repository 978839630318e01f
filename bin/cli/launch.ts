import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Config } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'
import { handleClosedOutput, describeError, exitCodeOf, formatError } from './report-error.ts'
import { interrupted } from './signals.ts'
import { runCommand } from './run-command.ts'

export interface LaunchOptions {
  /** Folder of the package. */
  readonly root: string
  /** Run `commands/*.ts` instead of the build. */
  readonly sources?: boolean
}

/** How long a process waits for the reader of its output, in milliseconds. */
const maxFlushMs = 10_000

/** How long a process waits for open handles after its command ended, in milliseconds. */
const maxLingerMs = 1000

/** Runs the command in the arguments and sets the exit code. Reports all errors. */
export async function launch(words: readonly string[], options: LaunchOptions): Promise<void> {
  silenceSqliteWarning()
  handleClosedOutput()
  // oclif would look for a known TypeScript loader, find none, and run an outdated build.
  settings.enableAutoTranspile = false
  try {
    await runCommand(await loadConfig(options), words)
    await flush()
    // Project code may have left something open, for example a timer.
    setTimeout(() => process.exit(), maxLingerMs).unref()
  } catch (thrown) {
    const ended = exitOf(thrown)
    if (ended === undefined) reportError(thrown, words)
    else process.exitCode = ended
    await flush()
    // A failed command may have left something open.
    process.exit()
  }
}

async function loadConfig({ root, sources = false }: LaunchOptions): Promise<Config> {
  const common = { root, userPlugins: false, devPlugins: false }
  if (!sources) return Config.load(common)
  const pjson = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  pjson.oclif.commands = { strategy: 'pattern', target: './commands', globPatterns: ['**/*.ts'] }
  return Config.load({ ...common, pjson, ignoreManifest: true })
}

/** The errors that say what became of interrupted migrations. */
const outcomes = new Set(['WP_MIGRATE_STOPPED', 'WP_PROJECT_MIGRATE_STOPPED', 'WP_PROJECT_REMOTE_MIGRATING'])

function reportError(thrown: unknown, words: readonly string[]): void {
  const error = describeError(thrown, words[0] ?? '')
  // The failure of interrupted work is not reported to the user who interrupted it, only what became of the work.
  if (process.exitCode === interrupted && !outcomes.has(error.code) && !words.includes('--verbose')) return
  process.stderr.write(`${formatError(error, words.includes('--verbose'))}\n`)
  process.exitCode ??= exitCodeOf(error)
}

/** Returns the code of `this.exit(code)`. */
function exitOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || thrown.code !== 'EEXIT') return undefined
  return (thrown as Error & { oclif?: { exit?: number } }).oclif?.exit ?? 0
}

/** Waits until the output is written. oclif's version waits forever if the terminal was closed. */
async function flush(): Promise<void> {
  if (process.stdout.writableLength === 0) return
  await new Promise<void>((resolve) => {
    process.stdout.write('', () => resolve())
    setTimeout(resolve, maxFlushMs)
  })
}

/** Node 24 warns at each start that node:sqlite is experimental. Waypost is tested with it. */
function silenceSqliteWarning(): void {
  const { emitWarning } = process
  process.emitWarning = function hushed(warning: string | Error, ...rest: never[]): void {
    if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning.call(process, warning, ...rest)
  }
}
