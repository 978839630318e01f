import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { abortTimeoutMs } from './until.ts'

const root = path.join(import.meta.dirname, '../..')
const launcher = path.join(root, 'bin/run.js')

/** The checkout whose built command line is tested. */
export const checkout = root

export interface CliOptions {
  /** The folder to run in. */
  readonly cwd: string
  /** Beside PATH and HOME, which are all that is passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** What stands on standard input, which is closed behind it. */
  readonly input?: string
  /** How many files and sockets it may have open. */
  readonly descriptors?: number
}

/** A command that has ended. */
export interface EndedCli {
  /** The exit code; a signal's name when that ended it. */
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

/** A command that runs on. */
export interface RunningCli {
  readonly pid: number
  readonly ended: Promise<EndedCli>
  /** Everything that it printed so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until what it printed matches; fails when it ends, or prints nothing of the kind for a minute. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal, SIGTERM by default, and waits for the end. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<EndedCli>
}

const living = new Set<ChildProcess>()
// A test that failed half-way, or was interrupted, leaves nothing running.
process.once('exit', () => living.forEach((child) => child.kill('SIGKILL')))

/** Starts the built command line as a user does, in a process of its own with an environment of its own. */
export function startCli(words: readonly string[], options: CliOptions): RunningCli {
  if (!existsSync(path.join(root, 'dist'))) throw new Error('There is no dist/: npm run build first')
  const limit = options.descriptors === undefined ? '' : `ulimit -n ${options.descriptors} && `
  const command = [process.execPath, launcher, ...words]
  const [file = '', ...rest] = limit === '' ? command : ['/bin/sh', '-c', `${limit}exec "$@"`, 'sh', ...command]
  const child = spawn(file, rest, { cwd: options.cwd, env: cleanEnvironment(options.env) })
  living.add(child)
  const output = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      listeners.forEach((listener) => listener())
    })
  }
  child.stdin.on('error', () => undefined) // it ended without reading
  child.stdin.end(options.input ?? '')
  const ended = new Promise<EndedCli>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      living.delete(child)
      resolve({ code: code ?? String(signal), ...output })
    })
  })
  return {
    pid: child.pid ?? 0,
    ended,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    waitFor: (pattern) => waitForOutput({ pattern, words, output, listeners, ended }),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

/** Runs a command to its end. */
export function runCli(words: readonly string[], options: CliOptions): Promise<EndedCli> {
  return startCli(words, options).ended
}

/** PATH begins with the Node that runs the tests: the one on the machine may be too old. */
export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const variables = readEnvironment()
  const folders = [path.dirname(process.execPath), variable(variables, 'PATH') ?? '']
  const PATH = folders.join(path.delimiter)
  // No load balancer has to learn that a server stops, and the machine may be busy with other tests.
  const calm = { WAYPOST_STOP_DELAY: '0s', WAYPOST_PRESSURE_LIMIT: '1h' }
  return { PATH, HOME: variable(variables, 'HOME') ?? '/', ...calm, ...env }
}

interface Waiting {
  readonly pattern: RegExp
  readonly words: readonly string[]
  readonly output: Readonly<Record<'stdout' | 'stderr', string>>
  readonly listeners: Set<() => void>
  readonly ended: Promise<EndedCli>
}

async function waitForOutput({ pattern, words, output, listeners, ended }: Waiting): Promise<RegExpExecArray> {
  const found = () => pattern.exec(output.stdout) ?? pattern.exec(output.stderr)
  const explain = (what: string) =>
    new Error(`waypost ${words.join(' ')} ${what} ${pattern}\n${output.stdout}${output.stderr}`)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => finish(() => reject(explain(`did not print within ${abortTimeoutMs / 1000} s`))),
      abortTimeoutMs,
    )
    const look = () => {
      const match = found()
      if (match !== null) finish(() => resolve(match))
    }
    const finish = (then: () => void) => {
      clearTimeout(timer)
      listeners.delete(look)
      then()
    }
    listeners.add(look)
    void ended.then(() => finish(() => reject(explain('ended before it printed'))))
    look()
  })
}
