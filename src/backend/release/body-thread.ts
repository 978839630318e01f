import { Worker } from 'node:worker_threads'
import type { ClassCatalog } from '../../definition/index.ts'
import { urlOfModule } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { NextResult, ReadResult, ReadTask } from './body-worker.ts'

export interface ThreadLimits {
  /** How long a body may take. */
  readonly timeoutMs?: number
  readonly memoryMb?: number
  /** How long the thread is kept without work. */
  readonly idleMs?: number
}

/** Asks the thread; the bytes of a task are moved to it. @throws WP_BACKEND_BODY for what takes too long or too much memory */
export interface Ask {
  (task: ReadTask): Promise<ReadResult>
  (task: 'next'): Promise<NextResult>
}

/** Who waits for a body to be read. */
export interface Waiting {
  /** Clients take turns. */
  readonly client: string
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal
}

/**
 * A thread that reads bodies, one after another: a body may take long to read, and no other request must wait for that. It
 * starts with the first body and ends when a body takes too much time or memory.
 */
export class BodyThread {
  readonly #classes: ClassCatalog
  readonly #limits: Required<ThreadLimits>
  /** What begins the work that waits, by client; the client whose turn is next comes first. */
  readonly #queue = new Map<string, (() => void)[]>()
  #worker: Worker | undefined
  /** The client whose body is being read. */
  #client: string | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(classes: ClassCatalog, { timeoutMs = 15_000, memoryMb = 512, idleMs = 10_000 }: ThreadLimits = {}) {
    this.#classes = JSON.parse(JSON.stringify(classes)) as ClassCatalog
    this.#limits = { timeoutMs, memoryMb, idleMs }
  }

  /** Has the thread to itself while it works. Rejects when the caller leaves; the thread then stops what it does for it. */
  async use<Result>(work: (ask: Ask) => Promise<Result>, { client, signal }: Waiting): Promise<Result> {
    const stop = () => this.#end()
    await this.#takeTurn(client, signal)
    try {
      signal.throwIfAborted()
      signal.addEventListener('abort', stop)
      const ask = async (task: ReadTask | 'next') => {
        signal.throwIfAborted()
        return this.#ask(task)
      }
      return await work(ask as Ask)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#passTurn()
    }
  }

  async #takeTurn(client: string, signal: AbortSignal): Promise<void> {
    clearTimeout(this.#idle)
    if (this.#client === undefined) {
      this.#client = client
      return
    }
    const { promise, resolve: begin, reject } = Promise.withResolvers<void>()
    const waiting = this.#queue.get(client) ?? []
    this.#queue.set(client, [...waiting, begin])
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
    if (more !== undefined) this.#queue.set(this.#client!, more) // behind the other clients
    const [next] = this.#queue
    this.#client = next?.[0]
    if (next === undefined) {
      this.#idle = setTimeout(() => this.#end(), this.#limits.idleMs).unref()
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

  async #ask(task: ReadTask | 'next'): Promise<unknown> {
    const worker = (this.#worker ??= this.#begin())
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const { timeoutMs } = this.#limits
    const refuse = (reason: string) => reject(errors.WP_BACKEND_BODY({ reason }))
    const timer = setTimeout(() => refuse(`it takes longer than ${timeoutMs / 1000} s to check`), timeoutMs)
    const failed = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') refuse('it takes too much memory to check')
      else reject(error)
    }
    const ended = (code: number) => reject(new Error(`The thread that reads bodies ended with ${code}`))
    worker.once('message', resolve).once('error', failed).once('exit', ended)
    worker.postMessage(task, task === 'next' ? [] : [task.bytes.buffer as ArrayBuffer])
    try {
      return await promise
    } catch (error) {
      this.#end()
      throw error
    } finally {
      clearTimeout(timer)
      worker.off('message', resolve).off('error', failed).off('exit', ended)
    }
  }

  #begin(): Worker {
    const worker = new Worker(urlOfModule('src/backend/release/body-worker'), {
      workerData: { classes: this.#classes },
      env: {}, // it needs no variable
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
    })
    worker.unref() // a request that waits for it keeps the process
    worker.on('error', () => this.#forget(worker)).on('exit', () => this.#forget(worker))
    return worker
  }

  #forget(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined
  }

  #end(): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
  }
}
