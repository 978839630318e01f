import { fork, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  recordProgress,
  type ClaimedRun,
  type ListenerTermsOfRuns,
  type RunEnd,
  type RunProgress,
  type RunResult,
} from '../../events/index.ts'
import { readLogLevel, type Host } from '../../host/index.ts'
import { makeBareEnvironment, messageOf, urlOfModule } from '../../kit/index.ts'
import { maxOnceSqliteMs } from './listener-terms.ts'
import { nodeCommand } from './node-command.ts'
import { readMessages, type FromChild, type RunToStart, type ToChild } from './protocol.ts'

const idleMs = 60_000
const startMs = 60_000
const lateMs = 2000
/** The same for a run that keeps all others from writing. */
const lateLockedMs = 500
const memoryIntervalMs = 500
const saveMs = 1000
/** What a process needs besides the memory of its listeners. */
const ownBytes = 128 * 2 ** 20
const pageBytes = 4096
/** Messages that a process sends about no run of its own. Reading them costs the worker time. */
const maxStrays = 1000

export interface ProcessOptions {
  readonly host: Host
  /** How much memory the listeners of a process may use, in bytes. */
  memory(): number
  onError(error: unknown): void
  /** The least level of what its actions log, unless `LOG_LEVEL` is set. */
  readonly logLevel: 'info' | 'warn'
  /** Gets each line that a process prints; by default, they are printed to stderr. */
  readonly onOutput?: ((line: string) => void) | undefined
}

export interface Task {
  readonly run: ClaimedRun
  readonly listener: ListenerTermsOfRuns
  resolve(result: RunEnd): void
}

interface Running extends Task {
  saving?: NodeJS.Timeout
  progress: RunProgress
  limitMs: number
  overdueAt: number
  /** When the process is ended because of it. */
  killAt: number
}

/** A child process that runs the listeners of one release. */
export class RunProcess {
  readonly releaseId: string
  readonly ended: Promise<void>
  readonly #options: ProcessOptions
  readonly #child: ChildProcess
  readonly #tasks = new Map<string, Running>()
  readonly #starting: NodeJS.Timeout
  readonly #memory: NodeJS.Timeout
  #idle: NodeJS.Timeout | undefined
  readonly #overdue = makeAlarm(() => this.#endOverdue())
  /** Runs to send with others: a message costs more than a run that does little. */
  #waiting: RunToStart[] = []
  #strays = 0
  #isReady = false
  #isRetired = false
  #hasEnded = false
  /** Why it could not start. */
  #failure: { readonly reason: string; readonly isExternal: boolean } | undefined
  /** What happens to its runs, if this worker ends it. */
  #verdict: ((run: ClaimedRun) => RunResult) | undefined

  constructor(options: ProcessOptions, releaseId: string) {
    const { host } = options
    this.#options = options
    this.releaseId = releaseId
    const { endsWithParent, ...command } = nodeCommand(options.memory())
    this.#child = fork(fileURLToPath(urlOfModule('src/jobs/listeners/listener-child')), [], {
      cwd: host.folder,
      env: { ...makeBareEnvironment(), ...host.environment },
      execPath: command.execPath,
      execArgv: [...command.execArgv],
      // stdout belongs to the results of the command.
      stdio: options.onOutput === undefined ? ['ignore', 2, 2, 'ipc'] : ['ignore', 'pipe', 'pipe', 'ipc'],
      serialization: 'advanced',
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) readLines(stream, options.onOutput)
    this.#child.on('message', (text) => readMessages(text).forEach((message) => this.#receive(message)))
    this.ended = new Promise((resolve) => {
      const finish = (how: string) => {
        if (!this.#hasEnded) this.#finish(how)
        resolve()
      }
      this.#child.once('exit', (code, signal) => finish(signal ?? `exit code ${code}`))
      this.#child.on('error', (error) => {
        options.onError(error)
        if (this.#child.pid !== undefined) return
        this.#failure = { reason: messageOf(error), isExternal: true } // it has not begun, and so it has no exit
        finish('not started')
      })
    })
    this.#starting = setTimeout(() => {
      this.#failure = { reason: `It did not start within ${startMs / 1000} s`, isExternal: true }
      this.#child.kill('SIGKILL')
    }, startMs)
    this.#memory = setInterval(() => void this.#checkMemory(), memoryIntervalMs)
    const logLevel = readLogLevel(host.variables, options.logLevel)
    this.#send({ start: { folder: host.folder, releaseId, logLevel, endsWithParent } })
  }

  get size(): number {
    return this.#tasks.size
  }

  /** Whether it accepts more runs. */
  get isOpen(): boolean {
    return !this.#isRetired && !this.#hasEnded && this.#verdict === undefined
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  start({ run, listener, resolve }: Task): void {
    clearTimeout(this.#idle)
    const limits = { limitMs: listener.timeoutMs, overdueAt: Infinity, killAt: Infinity }
    const task: Running = { run, listener, resolve, progress: { log: null }, ...limits }
    this.#tasks.set(run.id, task)
    if (this.#isReady) this.#limit(task)
    if (this.#waiting.push({ run, timeoutMs: listener.timeoutMs, once: listener.once }) === 1)
      queueMicrotask(() => this.#send({ runs: JSON.stringify(this.#waiting.splice(0)) }))
  }

  /** Accepts no more runs, and ends after the last one. */
  retire(): void {
    this.#isRetired = true
    if (this.size === 0) this.kill(() => ({ kind: 'repeated' }))
  }

  /** Ends it now. */
  kill(verdict: (run: ClaimedRun) => RunResult): void {
    this.#verdict ??= verdict
    this.#child.kill('SIGKILL')
  }

  #send(message: ToChild): void {
    if (!this.#child.connected) return
    this.#child.send(message, (error) => {
      if (error !== null) this.#child.kill('SIGKILL') // its end decides about its runs
    })
  }

  #receive(message: FromChild | undefined): void {
    if (message === undefined) return this.#noteStray()
    if ('ready' in message) {
      this.#isReady = true
      clearTimeout(this.#starting)
      for (const task of this.#tasks.values()) this.#limit(task)
    } else if ('failed' in message) this.#failure = { reason: message.failed, isExternal: message.isExternal }
    else if ('progress' in message) {
      const { value, text } = message
      this.#noteProgress(message.progress, message.turn, { value, text })
    } else if ('logged' in message) this.#noteProgress(message.logged, message.turn, { log: message.log })
    else if ('locked' in message) this.#limitLocked(message)
    else {
      const task = this.#tasks.get(message.ended)
      if (task?.run.turn === message.turn) this.#end(task, { ...message.result, log: message.log })
      else this.#noteStray()
    }
  }

  #limit(task: Running, limitMs = task.listener.timeoutMs, late = lateMs): void {
    task.limitMs = limitMs
    task.overdueAt = performance.now() + limitMs
    task.killAt = task.overdueAt + late
    this.#overdue.ringAt(task.killAt)
  }

  #noteStray(): void {
    if (++this.#strays === maxStrays) this.#killBlamed('Its process sent messages that belong to no run')
  }

  /** A process that does not end a run in time is ended itself: its event loop is blocked, or the action does not stop. */
  #endOverdue(): void {
    const now = performance.now()
    const tasks = [...this.#tasks.values()]
    const first = tasks.toSorted((a, b) => a.killAt - b.killAt)[0]
    if (first === undefined) return
    if (first.killAt > now) return this.#overdue.ringAt(first.killAt)
    const overdue = new Set(tasks.filter((one) => now >= one.overdueAt).map(({ run }) => run.id))
    const reason = `It took longer than ${first.limitMs / 1000} s and did not stop`
    this.kill(({ id }): RunResult => {
      if (!overdue.has(id)) return { kind: 'repeated', reason: 'Another run blocked its process' }
      // If several are overdue, one of them keeps the others from ending.
      return overdue.size === 1 ? { kind: 'failed', reason } : { kind: 'lost', reason }
    })
  }

  #limitLocked({ locked: id, turn }: Extract<FromChild, { locked: string }>): void {
    const task = this.#tasks.get(id)
    if (task?.run.turn !== turn || !task.listener.once) return
    this.#limit(task, Math.min(task.listener.timeoutMs, maxOnceSqliteMs), lateLockedMs)
  }

  /** Saves it after a while, because most runs end before. */
  #noteProgress(id: string, turn: number, change: Partial<RunProgress>): void {
    const task = this.#tasks.get(id)
    if (task?.run.turn !== turn) return
    task.progress = { ...task.progress, ...change }
    task.saving ??= setTimeout(() => {
      delete task.saving
      recordProgress(this.#options.host.system, task.run, task.progress).catch(() => undefined)
    }, saveMs)
  }

  #end(task: Running, result: RunEnd): void {
    clearTimeout(task.saving)
    this.#tasks.delete(task.run.id)
    task.resolve(result)
    if (this.size > 0) return
    if (this.#isRetired) return this.retire()
    this.#idle = setTimeout(() => this.retire(), idleMs)
    this.#idle.unref()
  }

  #finish(how: string): void {
    this.#hasEnded = true
    clearTimeout(this.#starting)
    clearTimeout(this.#idle)
    clearInterval(this.#memory)
    this.#overdue.end()
    const verdict = this.#verdict ?? this.#judgeEnd(how, this.size === 1)
    for (const task of this.#tasks.values()) {
      clearTimeout(task.saving)
      task.resolve({ ...verdict(task.run), log: task.progress.log })
    }
    this.#tasks.clear()
  }

  /** A run that was alone has ended its process. Of several, each is repeated alone. */
  #judgeEnd(how: string, isAlone: boolean): (run: ClaimedRun) => RunResult {
    const failure = this.#failure
    if (failure?.isExternal === true) return () => ({ kind: 'repeated', reason: failure.reason, delayMs: 1000 })
    if (failure !== undefined) return () => ({ kind: 'failed', reason: failure.reason })
    const reason = `Its process ended: ${how}`
    // Ctrl+C in a terminal, or the end of a service, reaches all processes.
    if (['SIGINT', 'SIGTERM', 'SIGHUP'].includes(how)) return () => ({ kind: 'repeated', reason })
    return () => (isAlone ? { kind: 'failed', reason } : { kind: 'lost', reason })
  }

  /** The limit of V8 does not count buffers. Where there is no `/proc`, only that limit applies. */
  async #checkMemory(): Promise<void> {
    const limit = this.#options.memory() + ownBytes
    const text = await readFile(`/proc/${this.#child.pid}/statm`, 'utf8').catch(() => '')
    const bytes = Number(text.split(' ')[1] ?? 0) * pageBytes
    if (bytes <= limit) return
    const reason = `Its process used more than ${Math.round(limit / 2 ** 20)} MB of memory`
    this.#killBlamed(reason)
  }

  /** Ends it because of a run: the one that is alone. Of several, each is repeated alone. */
  #killBlamed(reason: string): void {
    const isAlone = this.size === 1
    this.kill(() => (isAlone ? { kind: 'failed', reason } : { kind: 'lost', reason }))
  }
}

/** One timer for many times, because most of what it waits for ends before. */
function makeAlarm(onTime: () => void) {
  let timer: NodeJS.Timeout | undefined
  let at = Infinity
  return {
    /** Calls the function at a time of `performance.now()`, or before. */
    ringAt(time: number): void {
      if (time >= at) return
      clearTimeout(timer)
      at = time
      timer = setTimeout(
        () => {
          at = Infinity
          onTime()
        },
        Math.ceil(time - performance.now()),
      )
      timer.unref()
    },
    end: () => clearTimeout(timer),
  }
}

const maxLine = 64 * 1024

/** Calls a function with each line that a process prints; longer ones are divided. */
function readLines(stream: Readable | null, onLine: ((line: string) => void) | undefined): void {
  let rest = ''
  const end = () => {
    if (rest !== '') onLine?.(rest)
    rest = ''
  }
  stream?.setEncoding('utf8').on('end', end)
  stream?.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine?.(line)
    if (rest.length >= maxLine) end()
  })
}
