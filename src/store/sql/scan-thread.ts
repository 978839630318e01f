import { Worker } from 'node:worker_threads'
import type { QueryResult } from 'kysely'
import { makeBareEnvironment, urlOfModule } from '../../kit/index.ts'
import { errors } from './errors.ts'
import { markCutOff } from './row-bytes.ts'
import type { ScanFile, ScanResult } from './scan-worker.ts'
import type { Row, Statement } from './sqlite-handle.ts'
import { bindSqliteValue } from './sqlite-values.ts'

const idleMs = 60_000
/** How many threads may still run a statement that took too long: each one keeps a processor busy. */
const maxLeft = 2

/**
 * A thread for statements that read many rows of a SQLite file: SQLite is synchronous, so they would block requests. It
 * starts with the first statement, runs one at a time, and ends when it is idle.
 */
export class ScanThread {
  readonly #file: ScanFile
  readonly #limitMs: number
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #left = 0

  /** @param limitMs after which a statement fails; 0 for no limit */
  constructor(file: ScanFile, limitMs = 0) {
    this.#file = file
    this.#limitMs = limitMs
  }

  /** @throws WP_STORE_SCAN_TIMEOUT, also while several statements that took too long still run */
  async run({ sql, parameters }: Statement): Promise<QueryResult<Row>> {
    if (this.#left >= maxLeft) throw this.#timeoutError()
    clearTimeout(this.#idleTimer)
    const worker = (this.#worker ??= this.#start())
    const { promise, resolve, reject } = Promise.withResolvers<ScanResult>()
    const leave = () => {
      this.#leave(worker)
      reject(this.#timeoutError())
    }
    const timer = this.#limitMs > 0 ? setTimeout(leave, this.#limitMs) : undefined
    const ended = (code: number) => reject(new Error(`The thread that reads SQLite ended with ${code}`))
    worker.once('message', resolve).once('error', reject).once('exit', ended)
    worker.ref()
    worker.postMessage({ sql, parameters: parameters.map(bindSqliteValue) }, [])
    try {
      const { rows, isCutOff, failure } = await promise
      if (rows === undefined) throw Object.assign(new Error(failure!.message), failure)
      const restored = rows.map(restoreBuffers)
      if (isCutOff) markCutOff(restored)
      return { rows: restored }
    } finally {
      clearTimeout(timer)
      worker.off('message', resolve).off('error', reject).off('exit', ended)
      worker.unref()
      this.#idleTimer = setTimeout(() => this.stop(), idleMs).unref()
    }
  }

  stop(): void {
    clearTimeout(this.#idleTimer)
    void this.#worker?.terminate()
    this.#worker = undefined
  }

  /** Node cannot interrupt SQLite, so the thread ends after the statement. The next one starts another thread. */
  #leave(worker: Worker): void {
    this.#left++
    worker.once('exit', () => this.#left--)
    this.stop()
  }

  #timeoutError(): Error {
    return errors.WP_STORE_SCAN_TIMEOUT({ database: this.#file.file, seconds: this.#limitMs / 1000 })
  }

  #start(): Worker {
    const worker = new Worker(urlOfModule('src/store/sql/scan-worker'), {
      workerData: this.#file,
      env: makeBareEnvironment(),
      execArgv: [],
    })
    const clear = () => {
      if (this.#worker === worker) this.#worker = undefined
    }
    return worker.on('error', clear).on('exit', clear)
  }
}

function restoreBuffers(row: Row): Row {
  for (const [name, value] of Object.entries(row)) {
    if (value instanceof Uint8Array) row[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
  return row
}
