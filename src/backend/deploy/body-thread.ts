import { Worker } from 'node:worker_threads'
import type { ClassCatalog } from '../../definition/index.ts'
import { makeBareEnvironment, urlOfModule } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { CompareResult, CompareTask, NextResult, ReadResult, ReadTask, Task } from './body-worker.ts'

export interface ThreadLimits {
  /** Time limit for one body. */
  readonly timeoutMs?: number
  readonly memoryMb?: number
  /** How long an idle thread is kept. */
  readonly idleMs?: number
}

/**
 * Sends a task to the thread; the task's bytes are transferred to it.
 * @throws WP_BACKEND_BODY if the task takes too long or too much memory
 */
export interface RunTask {
  (task: ReadTask): Promise<ReadResult>
  (task: CompareTask): Promise<CompareResult>
  (task: 'next'): Promise<NextResult>
}

/** The caller of a request whose body waits to be read. */
export interface QueuedCaller {
  /** The client; clients take turns. */
  readonly client: string
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
}

/**
 * A thread that reads bodies one after another, so that a body that takes long does not delay other requests. It starts
 * with the first body and ends when a body takes too much time or memory.
 */
export class BodyThread {
  readonly #classes: ClassCatalog
  readonly #limits: Required<ThreadLimits>
  /** Starts the waiting work, by client. The next client comes first. */
  readonly #queue = new Map<string, (() => void)[]>()
  #worker: Worker | undefined
  /** The client whose body is being read. */
  #client: string | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(classes: ClassCatalog, { timeoutMs = 30_000, memoryMb = 512, idleMs = 10_000 }: ThreadLimits = {}) {
    this.#classes = JSON.parse(JSON.stringify(classes)) as ClassCatalog
    this.#limits = { timeoutMs, memoryMb, idleMs }
  }

  /**
   * Reserves the thread while `work` runs. Rejects when the caller disconnects; the thread then stops its work for the
   * request.
   */
  async use<Result>(work: (ask: RunTask) => Promise<Result>, { client, signal }: QueuedCaller): Promise<Result> {
    const stop = () => this.#stopWorker()
    await this.#waitForTurn(client, signal)
    try {
      signal.throwIfAborted()
      signal.addEventListener('abort', stop)
      const ask = async (task: Task) => {
        signal.throwIfAborted()
        return this.#ask(task)
      }
      return await work(ask as RunTask)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#passTurn()
    }
  }

  async #waitForTurn(client: string, signal: AbortSignal): Promise<void> {
    clearTimeout(this.#idleTimer)
    if (this.#client === undefined) {
      this.#client = client
      return
    }
    const { promise, resolve: begin, reject } = Promise.withResolvers<void>()
    const queued = this.#queue.get(client) ?? []
    this.#queue.set(client, [...queued, begin])
    const leave = () => {
      this.#remove(client, begin)
      reject(signal.reason)
    }
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    await promise.finally(() => signal.removeEventListener('abort', leave))
  }

  #passTurn(): void {
    const more = this.#queue.get(this.#client!)
    this.#queue.delete(this.#client!)
    if (more !== undefined) this.#queue.set(this.#client!, more) // after the other clients
    const [next] = this.#queue
    this.#client = next?.[0]
    if (next === undefined) {
      this.#idleTimer = setTimeout(() => this.#stopWorker(), this.#limits.idleMs).unref()
      return
    }
    const [client, [begin]] = next
    this.#remove(client, begin!)
    begin!()
  }

  #remove(client: string, begin: () => void): void {
    const others = this.#queue.get(client)?.filter((one) => one !== begin) ?? []
    if (others.length > 0) this.#queue.set(client, others)
    else this.#queue.delete(client)
  }

  async #ask(task: Task): Promise<unknown> {
    const worker = (this.#worker ??= this.#startWorker())
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const { timeoutMs } = this.#limits
    const rejectBody = (reason: string) => reject(errors.WP_BACKEND_BODY({ reason }))
    const timer = setTimeout(() => rejectBody(`it takes longer than ${timeoutMs / 1000} s to check`), timeoutMs)
    const failed = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') rejectBody('it takes too much memory to check')
      else reject(error)
    }
    const ended = (code: number) => reject(new Error(`The thread that reads bodies ended with ${code}`))
    worker.once('message', resolve).once('error', failed).once('exit', ended)
    worker.postMessage(task, task !== 'next' && 'bytes' in task ? [task.bytes.buffer as ArrayBuffer] : [])
    try {
      return await promise
    } catch (error) {
      this.#stopWorker()
      throw error
    } finally {
      clearTimeout(timer)
      worker.off('message', resolve).off('error', failed).off('exit', ended)
    }
  }

  #startWorker(): Worker {
    const worker = new Worker(urlOfModule('src/backend/deploy/body-worker'), {
      workerData: { classes: this.#classes },
      env: makeBareEnvironment(),
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
    })
    worker.unref() // a waiting request keeps the process alive
    worker.on('error', () => this.#clearWorker(worker)).on('exit', () => this.#clearWorker(worker))
    return worker
  }

  #clearWorker(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined
  }

  #stopWorker(): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
  }
}
