import { Worker } from 'node:worker_threads'
import { openPluginProcess, type PluginProcess } from '../../../build/index.ts'
import type { Texts } from '../../../definition/index.ts'
import { isWaypostError, makeBareEnvironment, urlOfModule, type WaypostError } from '../../../kit/index.ts'
import { errors } from '../../errors.ts'
import type { TaskInput, TaskName, TaskOutput } from './draft-tasks.ts'
import type { FromThread, MainCalls, ThreadData, ToThread } from './draft-worker.ts'
import { restoreError, serializeError } from './thread-errors.ts'
import { VersionSender } from './versions.ts'

export interface DraftThreadOptions extends ThreadData {
  /** What the code of a release consists of; absent if the folder has the code. */
  readonly sources?: Pick<MainCalls, 'loadManifest' | 'loadArtifacts'> | undefined
  readonly limits?: DraftLimits | undefined
}

export interface DraftLimits {
  /** Time limit for one task. */
  readonly timeoutMs?: number
  readonly memoryMb?: number
  /** How long an idle thread is kept, with what it has parsed. */
  readonly idleMs?: number
  /** How many tasks may wait. */
  readonly waiting?: number
}

/** How long a version that exceeded a limit is refused without trying again: the machine may have been busy. */
const refusedMs = 5 * 60_000

/** These do not parse the whole definition. */
const light: ReadonlySet<TaskName> = new Set(['diff', 'isFrozen'])

/** A thread that works on definitions, one task after another. It starts with the first task. */
export class DraftThread {
  readonly #options: DraftThreadOptions
  readonly #limits: Required<DraftLimits>
  /** When versions exceeded a limit. */
  readonly #exceeded = new WeakMap<Texts, { readonly at: number; readonly error: WaypostError }>()
  #running: RunningThread | undefined
  #plugins: PluginProcess | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #isClosed = false

  constructor(options: DraftThreadOptions) {
    this.#options = options
    const { timeoutMs = 30_000, memoryMb = 512, idleMs = 5 * 60_000, waiting = 100 } = options.limits ?? {}
    this.#limits = { timeoutMs, memoryMb, idleMs, waiting }
  }

  /**
   * Runs a task. Its `texts` are the version that it is about.
   * @throws WP_BACKEND_DRAFT_LIMIT if it takes too much time or memory, WP_BACKEND_DRAFT_QUEUE, WP_BACKEND_DRAFT_THREAD, and
   * the errors of the task
   */
  async ask<Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<TaskOutput<Name>> {
    if (this.#waiting >= this.#limits.waiting) throw errors.WP_BACKEND_DRAFT_QUEUE({}, { retryAfterSeconds: 5 })
    this.#waiting += 1
    const result = this.#last.then(() => this.#run(name, input))
    this.#last = result.catch(() => undefined)
    try {
      return await result
    } finally {
      this.#waiting -= 1
    }
  }

  /** Waits for no task. */
  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  async #run<Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<TaskOutput<Name>> {
    if (this.#isClosed) throw errors.WP_BACKEND_DRAFT_THREAD({ reason: 'the server stops' })
    const texts = 'texts' in input ? input.texts : undefined
    const known = texts === undefined || light.has(name) ? undefined : this.#exceeded.get(texts)
    if (known !== undefined && performance.now() - known.at < refusedMs) throw known.error
    clearTimeout(this.#idleTimer)
    const running = (this.#running ??= this.#start())
    try {
      return (await running.ask(name, input)) as TaskOutput<Name>
    } catch (error) {
      if (running.isBroken) this.#stop()
      if (texts !== undefined && isExceeded(error)) this.#exceeded.set(texts, { at: performance.now(), error })
      throw error
    } finally {
      this.#idleTimer = setTimeout(() => this.#stop(), this.#limits.idleMs).unref()
    }
  }

  #start(): RunningThread {
    const { folder, root, sources } = this.#options
    return new RunningThread({ folder, root }, this.#limits, (name, args) => {
      const plugins = (this.#plugins ??= openPluginProcess())
      if (name === 'close') return plugins.close()
      const offered = { ...sources, load: plugins.load, describe: plugins.describe }
      return (offered[name] as (...given: readonly unknown[]) => Promise<unknown>)(...args)
    })
  }

  #stop(): void {
    clearTimeout(this.#idleTimer)
    this.#running?.close()
    this.#running = undefined
    this.#plugins?.close()
    this.#plugins = undefined
  }
}

/** Whether an error says that a task took too much time or memory. */
export function isExceeded(error: unknown): error is WaypostError {
  return isWaypostError(error) && error.code === ('WP_BACKEND_DRAFT_LIMIT' satisfies keyof typeof errors)
}

type Answer = (name: keyof MainCalls, args: readonly unknown[]) => unknown

/** A started thread, with what it has been sent. */
class RunningThread {
  readonly #limits: Required<DraftLimits>
  readonly #answer: Answer
  readonly #versions = new VersionSender()
  readonly #worker: Worker
  #task:
    | { readonly done: PromiseWithResolvers<unknown>; timer: NodeJS.Timeout; rest: number; since: number }
    | undefined
  /** How many answers it waits for: that time does not count. */
  #calls = 0
  #failure: Error | undefined

  constructor(data: ThreadData, limits: Required<DraftLimits>, answer: Answer) {
    this.#limits = limits
    this.#answer = answer
    this.#worker = new Worker(urlOfModule('src/backend/draft/thread/draft-worker'), {
      workerData: data,
      env: makeBareEnvironment(),
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb },
    })
    this.#worker
      .on('message', (message: FromThread) => this.#receive(message))
      .on('error', (error: NodeJS.ErrnoException) => this.#fail(describeEnd(error)))
      .on('messageerror', (error) => this.#fail(describeEnd(error)))
      .on('exit', (code) => this.#fail(errors.WP_BACKEND_DRAFT_THREAD({ reason: `it ended with ${code}` })))
    this.#worker.unref()
  }

  /** Whether it has to be replaced. */
  get isBroken(): boolean {
    return this.#failure !== undefined
  }

  async ask(task: TaskName, input: object): Promise<unknown> {
    if (this.#failure !== undefined) throw this.#failure
    const done = Promise.withResolvers<unknown>()
    const { timeoutMs } = this.#limits
    this.#task = { done, timer: this.#startTimer(timeoutMs), rest: timeoutMs, since: performance.now() }
    this.#worker.ref()
    try {
      this.#post({ task, ...this.#versions.send(input) })
      return await done.promise
    } finally {
      this.#worker.unref()
      clearTimeout(this.#task.timer)
      this.#task = undefined
    }
  }

  close(): void {
    this.#fail(errors.WP_BACKEND_DRAFT_THREAD({ reason: 'it was stopped' }))
  }

  #receive(message: FromThread): void {
    if ('output' in message) this.#task?.done.resolve(message.output)
    else if ('failure' in message) this.#task?.done.reject(restoreError(message.failure))
    else if ('closePlugins' in message) this.#answer('close', [])
    else void this.#reply(message)
  }

  async #reply({ call, name, args }: Extract<FromThread, { readonly call: number }>): Promise<void> {
    this.#pause()
    try {
      const result = await this.#answer(name, args)
      this.#resume()
      this.#post({ call, result })
    } catch (error) {
      this.#resume()
      this.#post({ call, failure: serializeError(error) })
    }
  }

  #pause(): void {
    this.#calls += 1
    if (this.#calls > 1 || this.#task === undefined) return
    clearTimeout(this.#task.timer)
    this.#task.rest -= performance.now() - this.#task.since
  }

  #resume(): void {
    this.#calls -= 1
    if (this.#calls > 0 || this.#task === undefined) return
    this.#task.since = performance.now()
    this.#task.timer = this.#startTimer(this.#task.rest)
  }

  #startTimer(ms: number): NodeJS.Timeout {
    const reason = `it takes longer than ${this.#limits.timeoutMs / 1000} s`
    return setTimeout(() => this.#fail(errors.WP_BACKEND_DRAFT_LIMIT({ reason })), Math.max(1, ms))
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message, [])
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    void this.#worker.terminate()
    this.#task?.done.reject(error)
  }
}

function describeEnd(error: NodeJS.ErrnoException): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? errors.WP_BACKEND_DRAFT_LIMIT({ reason: 'it takes too much memory' })
    : errors.WP_BACKEND_DRAFT_THREAD({ reason: error.message }, { cause: error })
}
