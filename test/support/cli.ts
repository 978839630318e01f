import { fork, spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { isLong } from './forms.ts'
import { abortTimeoutMs } from './until.ts'

/** The checkout whose built command line is tested; of `npm test`, the copy that it makes. */
export const checkout = variable(readEnvironment(), 'WAYPOST_TEST_CHECKOUT') ?? path.join(import.meta.dirname, '../..')
const launcher = path.join(checkout, 'bin/run.js')

export interface CliOptions {
  /** The working folder. */
  readonly cwd: string
  /** In addition to PATH, HOME and the folders for temporary files; nothing else is passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** The content of standard input. */
  readonly input?: string
  /** The limit of open files and sockets. */
  readonly descriptors?: number
  /** Runs as this user and group, and then without any variable but those in `env`. Only root can. */
  readonly uid?: number
  /** Its output to stderr is not kept. */
  readonly stderr?: 'ignore'
  /** `bin/run.js` of another installation than this checkout. */
  readonly launcher?: string
}

/** An ended command. */
export interface EndedCli {
  /** The exit code, or the name of the signal that ended it. */
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

/** A running command. */
export interface RunningCli {
  readonly pid: number
  readonly ended: Promise<EndedCli>
  /** Everything printed so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until the output matches. Fails if the command ends, or after a minute without a match. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal, SIGTERM by default, and waits for the end. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<EndedCli>
}

const living = new Set<ChildProcess>()
// Failed or interrupted tests leave no processes running.
process.once('exit', () => living.forEach((child) => child.kill('SIGKILL')))

/** Starts the built command line as a user does, in its own process with its own environment. */
export function startCli(words: readonly string[], options: CliOptions): RunningCli {
  if (!existsSync(path.join(checkout, 'dist'))) throw new Error('There is no dist/: npm run build first')
  const limit = options.descriptors === undefined ? '' : `ulimit -n ${options.descriptors} && `
  const command = [process.execPath, options.launcher ?? launcher, ...words]
  const [file = '', ...rest] = limit === '' ? command : ['/bin/sh', '-c', `${limit}exec "$@"`, 'sh', ...command]
  const { uid } = options
  const user = uid === undefined ? { env: cleanEnvironment(options.env) } : { uid, gid: uid, env: { ...options.env } }
  const stdio = ['pipe', 'pipe', options.stderr ?? 'pipe'] as const
  const child = spawn(file, rest, { cwd: options.cwd, ...user, stdio: [...stdio] })
  living.add(child)
  const output = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      listeners.forEach((listener) => listener())
    })
  }
  child.stdin?.on('error', () => undefined) // it ended without reading
  child.stdin?.end(options.input ?? '')
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

/**
 * Runs a command. Commands share processes, which run one at a time. In the long form of the suite, and for commands
 * with Node options, each has its own process, as with `startCli`.
 */
export function runCli(words: readonly string[], options: CliOptions): Promise<EndedCli> {
  const needsOwn =
    options.descriptors !== undefined || options.uid !== undefined || options.env?.['NODE_OPTIONS'] !== undefined
  if (isLong || needsOwn) return startCli(words, options).ended
  const { cwd, input = '' } = options
  return runShared({ words, cwd, env: cleanEnvironment(options.env), input })
}

/**
 * Runs a command in a shared process.
 * @param launcher the module that launches commands and the folder of the commands; the built command line by default
 */
export function runShared(order: Order, launcher: readonly string[] = []): Promise<EndedCli> {
  const key = launcher.join('\n')
  const idle = pools.get(key) ?? []
  pools.set(key, idle)
  return (idle.pop() ?? startWorker(idle, launcher)).run(order)
}

/** The request to a shared process. */
export interface Order {
  readonly words: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

/** What a shared process prints to both outputs after a command. */
export function endMark(code: number | string): string {
  return `\0ended ${code}\0`
}

interface CliWorker {
  run(order: Order): Promise<EndedCli>
}

/** Idle processes by launcher. */
const pools = new Map<string, CliWorker[]>()

function startWorker(idle: CliWorker[], launcher: readonly string[]): CliWorker {
  const child = fork(path.join(import.meta.dirname, 'cli-worker.ts'), [checkout, ...launcher], {
    env: cleanEnvironment(),
    execArgv: [], // not the options of the tests
    silent: true,
  })
  living.add(child)
  const handles = [child, child.channel, child.stdout, child.stderr] as unknown as { ref(): void; unref(): void }[]
  let output = { stdout: '', stderr: '' }
  let report: (() => void) | undefined
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      report?.()
    })
  }
  child.once('close', () => living.delete(child))
  const worker: CliWorker = {
    run(order) {
      output = { stdout: '', stderr: '' }
      handles.forEach((handle) => handle.ref())
      return new Promise((resolve) => {
        const died = (code: number | null, signal: NodeJS.Signals | null) =>
          resolve({ code: code ?? String(signal), ...output })
        child.once('close', died)
        report = () => {
          const [one, other] = [output.stdout, output.stderr].map((text) => /^(.*)\0ended (\d+)\0$/s.exec(text))
          if (one === null || other === null) return
          report = undefined
          child.off('close', died)
          handles.forEach((handle) => handle.unref())
          idle.push(worker)
          resolve({ code: Number(one![2]), stdout: one![1]!, stderr: other![1]! })
        }
        child.send(order)
      })
    },
  }
  return worker
}

/** PATH begins with the Node that runs the tests, because the machine's own may be too old. */
export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const variables = readEnvironment()
  const folders = [path.dirname(process.execPath), variable(variables, 'PATH') ?? '']
  const PATH = folders.join(path.delimiter)
  // No load balancer needs time to notice a stop, and the machine may be busy with other tests.
  const calm = { WAYPOST_STOP_DELAY: '0s', WAYPOST_PRESSURE_LIMIT: '1h' }
  const passed = ['NODE_COMPILE_CACHE', 'TMPDIR'].flatMap((name) => {
    const value = variable(variables, name)
    return value === undefined ? [] : [[name, value]]
  })
  return { PATH, HOME: variable(variables, 'HOME') ?? '/', ...Object.fromEntries(passed), ...calm, ...env }
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
