import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readEnvironment } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { joinCoverage, readCoverageRecords, type Coverage } from './report.ts'

export interface MeasureOptions {
  /** The command that runs the tests, with its arguments. */
  readonly command: readonly string[]
  /** Write its standard output to standard error. */
  readonly usesStderr: boolean
}

/**
 * Runs tests, and joins what their processes have touched.
 * @returns the exit code of the tests and their coverage
 * @throws WP_PROJECT_COVERAGE_START, WP_PROJECT_COVERAGE_NONE
 */
export async function measureCoverage(options: MeasureOptions): Promise<{ code: number; coverage: Coverage }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-coverage-'))
  try {
    const code = await runTests(options, folder)
    const records = readCoverageRecords(folder)
    if (records.length === 0) throw errors.WP_PROJECT_COVERAGE_NONE({ command: options.command.join(' ') })
    return { code, coverage: joinCoverage(records) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT'
}

function runTests({ command: [file = '', ...args], usesStderr }: MeasureOptions, folder: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const child = spawn(file, args, {
    stdio: ['inherit', usesStderr ? 2 : 'inherit', 'inherit'],
    env: { ...readEnvironment(), WAYPOST_COVERAGE: folder },
    shell: process.platform === 'win32', // npm is a script there
  })
  child.once('error', (cause) =>
    reject(
      errors.WP_PROJECT_COVERAGE_START(
        { command: file, reason: isMissing(cause) ? 'command not found' : cause.message },
        { cause },
      ),
    ),
  )
  child.once('exit', (code) => resolve(code ?? 1))
  return promise
}
