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

/**
 * A thread that reads bodies, one after another: whoever may look at a server may send what takes long to read, and no
 * request must wait for that. It begins with the first body, and ends with one that it cannot cope with.
 */
export class BodyThread {
  readonly #classes: ClassCatalog
  readonly #limits: Required<ThreadLimits>
  #worker: Worker | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined

  constructor(classes: ClassCatalog, { timeoutMs = 15_000, memoryMb = 512, idleMs = 10_000 }: ThreadLimits = {}) {
    this.#classes = JSON.parse(JSON.stringify(classes)) as ClassCatalog
    this.#limits = { timeoutMs, memoryMb, idleMs }
  }

  /** Has the thread to itself while it works. */
  use<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(() => {
      clearTimeout(this.#idle)
      return work(this.#ask as Ask)
    })
    this.#queue = done
      .catch(() => undefined)
      .finally(() => {
        this.#idle = setTimeout(() => this.#end(), this.#limits.idleMs).unref()
      })
    return done
  }

  readonly #ask = async (task: ReadTask | 'next'): Promise<unknown> => {
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
