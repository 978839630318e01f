import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Config } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'
import { noticeLostReader, describeError, exitCodeOf, formatError } from './report-error.ts'
import { interrupted } from './signals.ts'
import { runCommand } from './run-command.ts'

export interface LaunchOptions {
  /** Folder of the package. */
  readonly root: string
  /** Run `commands/*.ts` instead of what was built from them. */
  readonly sources?: boolean
}

/** How long a process whose command has ended waits for what is still open. */
const longestLingerMs = 1000

/** Runs what the words say and sets the exit code; reports whatever goes wrong. */
export async function launch(words: readonly string[], options: LaunchOptions): Promise<void> {
  hushSqlite()
  noticeLostReader()
  // oclif would look for a TypeScript loader, find none that it knows, and run what an earlier build left.
  settings.enableAutoTranspile = false
  try {
    await runCommand(await loadConfig(options), words)
    await flush()
    // Code of a project may have left something open, a timer for example: nobody waits for it.
    setTimeout(() => process.exit(), longestLingerMs).unref()
  } catch (thrown) {
    const ended = exitOf(thrown)
    if (ended === undefined) reportError(thrown, words)
    else process.exitCode = ended
    await flush()
    // A command that failed half-way may have left something open.
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

function reportError(thrown: unknown, words: readonly string[]): void {
  // Work that was interrupted fails; that is no news to who interrupted it.
  if (process.exitCode === interrupted && !words.includes('--verbose')) return
  const error = describeError(thrown, words[0] ?? '')
  process.stderr.write(`${formatError(error, words.includes('--verbose'))}\n`)
  process.exitCode ??= exitCodeOf(error)
}

/** The code that a command chose by `this.exit(code)`. */
function exitOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || thrown.code !== 'EEXIT') return undefined
  return (thrown as Error & { oclif?: { exit?: number } }).oclif?.exit ?? 0
}

/** Waits until what was printed is out. oclif's waits for ever when the terminal was closed. */
async function flush(): Promise<void> {
  if (process.stdout.writableLength === 0) return
  await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()))
}

/** Node 24 calls node:sqlite experimental at each start; Waypost is tested on it. */
function hushSqlite(): void {
  const { emitWarning } = process
  process.emitWarning = function hushed(warning: string | Error, ...rest: never[]): void {
    if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning.call(process, warning, ...rest)
  }
}
