import { errors } from './errors.ts'
import { FileIdentity, type FileState } from './sqlite-identity.ts'
import { Slots } from './slots.ts'
import type { QueryResult } from 'kysely'
import {
  isBusy,
  makeFileError,
  resultCode,
  SqliteHandle,
  type Journal,
  type Row,
  type Statement,
} from './sqlite-handle.ts'
import { retry } from './retry.ts'
import { ScanThread } from './scan-thread.ts'

export interface SqliteHandlesOptions {
  readonly file: string
  readonly synchronous: 'FULL' | 'NORMAL' | 'OFF'
  readonly journal: Journal
  /** Whether the file is never changed. */
  readonly readOnly: boolean
  readonly allowsQuotedTexts: boolean
  /** The maximum number of handles for read-only transactions and streams. */
  readonly readers: number
  readonly busyLimitMs: number
  /** How long a query that reads many rows may take; 0 for no limit. */
  readonly scanLimitMs: number
}

/** A handle that one transaction or stream uses exclusively until it is released. */
export interface Lease {
  readonly handle: SqliteHandle
  readonly release: () => void
}

interface Slot {
  handle: SqliteHandle | undefined
}

/** How long a process may write without a pause, and how long a pause must be. */
const maxWritingMs = 50
const pauseMs = 3

/** After this time, or a tenth of the busy limit, a changed file is checked. Another process copies pages in less. */
const maxMomentMs = 250

const readOnly = 8
const full = 13

/** Whether SQLite rejected a write on a read-only handle. */
export function isReadOnlyError(error: unknown): boolean {
  return resultCode(error) === readOnly
}

/**
 * The handles of one SQLite file: one for writing, one shared by single queries, a few for longer reads,
 * and a thread for queries that read many rows. Writers of
 * this process queue asynchronously. Access is retried until the limit while writers of other processes hold the lock.
 */
export class SqliteHandles {
  readonly #options: SqliteHandlesOptions
  readonly #slots: Slot[]
  readonly #writers: Slots<Slot>
  readonly #readers: Slots<Slot>
  readonly #shared: Slot = { handle: undefined }
  readonly #scanThread: ScanThread
  readonly #scanners: Slots<ScanThread>
  readonly #identity: FileIdentity
  #writingSince = 0
  #freeSince = 0
  #isClosed = false
  #leases = 0
  #allReturned: (() => void) | undefined
  #checking: ScanThread | undefined
  #rejected: bigint | undefined

  constructor(options: SqliteHandlesOptions) {
    this.#options = options
    this.#identity = new FileIdentity(options.file)
    const writer: Slot = { handle: undefined }
    const readers = Array.from({ length: options.readers }, (): Slot => ({ handle: undefined }))
    this.#slots = [this.#shared, ...readers, writer] // the writer closes last, because that empties the write-ahead log
    this.#writers = new Slots([writer])
    this.#readers = new Slots(readers)
    this.#scanThread = new ScanThread(options, options.scanLimitMs)
    this.#scanners = new Slots([this.#scanThread])
  }

  /**
   * Opens the first handles.
   * @throws WP_STORE_FILE, WP_STORE_BUSY
   */
  async open(): Promise<void> {
    if (this.#shared.handle !== undefined) return
    if (!this.#options.readOnly) {
      const writer = await this.leaseWriter() // first, because it may switch the file to write-ahead mode
      writer.release()
    }
    await this.#handleOf(this.#shared, true, this.#deadline())
    this.#compare() // not before: a file in an image's layer becomes another one when it is opened for writing
  }

  /**
   * Checks that the file at the path is still the one that is open, with the content that SQLite gave it.
   * @throws WP_STORE_REPLACED
   */
  assertSame(): void {
    if (this.#shared.handle === undefined || this.#isClosed) return
    const state = this.#compare()
    const isOther =
      state === 'replaced' || (state === 'changed' && this.#identity.changedMs > this.#options.busyLimitMs)
    if (isOther) throw this.#replacedError()
  }

  /** Runs a single query. It sees everything committed before and waits for no writer. */
  async read<Value>(work: (handle: SqliteHandle) => Value): Promise<Awaited<Value>> {
    if (this.#identity.isReplaced) throw this.#replacedError()
    const deadline = this.#deadline()
    const handle = this.#shared.handle ?? (await this.#handleOf(this.#shared, true, deadline))
    return this.retryWhileBusy(() => work(handle), deadline)
  }

  /**
   * Runs a single query that reads many rows in a thread, after those that wait for it.
   * @throws WP_STORE_SCAN if it waits longer than the busy limit, WP_STORE_SCAN_TIMEOUT
   */
  async scan(statement: Statement): Promise<QueryResult<Row>> {
    if (this.#isClosed) throw this.#closedError()
    this.assertSame()
    const { busyLimitMs, file } = this.#options
    const seconds = busyLimitMs / 1000
    const thread = await this.#scanners.acquire(busyLimitMs, () =>
      errors.WP_STORE_SCAN({ database: file, seconds }, { retryAfterSeconds: 1 }),
    )
    this.#leases++
    try {
      return await this.retryWhileBusy(() => thread.run(statement))
    } finally {
      this.#scanners.release(thread)
      this.#endLease()
    }
  }

  /**
   * Runs a single write statement.
   * @throws WP_STORE_BUSY
   */
  async write<Value>(work: (handle: SqliteHandle) => Value): Promise<Awaited<Value>> {
    const deadline = this.#deadline()
    const { handle, release } = await this.leaseWriter(deadline)
    try {
      return await this.retryWhileBusy(() => work(handle), deadline)
    } finally {
      release()
    }
  }

  leaseWriter(deadline = this.#deadline()): Promise<Lease> {
    return this.#lease(this.#writers, { readOnly: false, deadline })
  }

  leaseReader(deadline = this.#deadline()): Promise<Lease> {
    return this.#lease(this.#readers, { readOnly: true, deadline })
  }

  /**
   * Retries while another process holds the lock.
   * @throws WP_STORE_BUSY
   */
  retryWhileBusy<Value>(attempt: () => Value, deadline = this.#deadline()): Promise<Awaited<Value>> {
    const isRetryable = (error: unknown) => isBusy(error)
    return retry({ attempt, isRetryable, deadline, onTimeout: (cause) => this.#busyError(cause) })
  }

  /** Converts the error of a statement. */
  explain(error: unknown): unknown {
    if (resultCode(error) !== full) return error
    return errors.WP_STORE_FULL({ database: this.#options.file }, { cause: error })
  }

  /** Rejects new work, lets current work finish within the limit, and closes every handle. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const slots of [this.#writers, this.#readers, this.#scanners]) slots.rejectWaiting(this.#closedError())
    if (this.#leases > 0) {
      const timer = setTimeout(() => this.#allReturned?.(), this.#options.busyLimitMs)
      await new Promise<void>((resolve) => (this.#allReturned = resolve))
      clearTimeout(timer)
    }
    this.#scanThread.stop()
    this.#checking?.stop()
    // The last one copies the write-ahead log to the file, unless it only reads.
    const isSame = this.#shared.handle === undefined || this.#compare() === 'same'
    for (const slot of isSame ? this.#slots : this.#slots.toReversed()) closeSlot(slot)
  }

  #endLease(): void {
    this.#leases--
    if (this.#leases === 0) this.#allReturned?.()
  }

  async #lease(slots: Slots<Slot>, options: { readOnly: boolean; deadline: number }): Promise<Lease> {
    if (this.#isClosed) throw this.#closedError()
    const slot = await slots.acquire(options.deadline - performance.now(), () => this.#busyError())
    this.#leases++
    const isWriter = slots === this.#writers
    if (isWriter && performance.now() - this.#freeSince >= pauseMs) this.#writingSince = performance.now()
    const release = () => {
      // A transaction that is still open could not be rolled back. Only a new handle is certain to hold no lock.
      if (slot.handle?.isInTransaction) closeSlot(slot)
      if (isWriter && this.#shared.handle !== undefined) this.#compare() // notes what a commit has copied
      this.#returnSlot(slots, slot)
      this.#endLease()
    }
    try {
      if (isWriter) await this.#awaitSame(options.deadline)
      return { handle: await this.#handleOf(slot, options.readOnly, options.deadline), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Waits while another process may be copying pages to the file, and while a changed file is checked. */
  async #awaitSame(deadline: number): Promise<void> {
    if (this.#shared.handle === undefined || this.#compare() === 'same') return
    const changed = this.#replacedError()
    await retry({
      deadline,
      isRetryable: (error) => error === changed,
      onTimeout: () => changed,
      maxPauseMs: 50,
      attempt: () => {
        const state = this.#compare()
        if (state !== 'same') throw state === 'changed' ? changed : this.#replacedError()
      },
    })
  }

  #compare(): FileState {
    const state = this.#identity.compare(() => this.#shared.handle?.readLogProgress())
    const momentMs = Math.min(this.#options.busyLimitMs / 10, maxMomentMs)
    if (state === 'changed' && this.#identity.changedMs > momentMs) void this.#check()
    return state
  }

  /**
   * Accepts a changed file if it is intact. Nothing is written before, because handles have cached pages of the file as it
   * was.
   */
  async #check(): Promise<void> {
    const found = this.#identity.acceptable
    if (this.#isClosed || this.#checking !== undefined || found === undefined || found === this.#rejected) return
    const thread = new ScanThread(this.#options) // with a handle that has cached nothing
    this.#checking = thread
    try {
      const { rows } = await thread.run({ sql: 'pragma integrity_check(1)', parameters: [] })
      const isIntact = rows[0]?.['integrity_check'] === 'ok'
      if (isIntact && !this.#options.readOnly) await this.retryWhileBusy(() => this.#renew(found))
      if (isIntact && found === this.#identity.acceptable) this.#identity.accept(found)
      if (!isIntact) this.#rejected = found
    } catch (error) {
      if (!isBusy(error)) this.#rejected = found
    } finally {
      thread.stop()
      this.#checking = undefined
    }
  }

  #renew(found: bigint): void {
    if (this.#isClosed || this.#compare() !== 'changed' || this.#identity.acceptable !== found) return
    const { file, ...options } = this.#options
    const handle = new SqliteHandle(file, options)
    try {
      handle.renew()
    } finally {
      handle.close()
    }
  }

  // A process that writes continuously frees the lock only for moments, which another process that retries finds only
  // by chance. So the lock is left free from time to time, long enough for a retry.
  #returnSlot(slots: Slots<Slot>, slot: Slot): void {
    const isLong = slots === this.#writers && performance.now() - this.#writingSince > maxWritingMs
    this.#freeSince = performance.now()
    if (!isLong) return slots.release(slot)
    setTimeout(() => {
      this.#writingSince = performance.now()
      slots.release(slot)
    }, pauseMs)
  }

  async #handleOf(slot: Slot, isReader: boolean, deadline: number): Promise<SqliteHandle> {
    if (this.#isClosed) throw this.#closedError()
    if (slot.handle === undefined) this.assertSame()
    const { file, readOnly, ...options } = this.#options
    try {
      return await this.retryWhileBusy(
        () => (slot.handle ??= new SqliteHandle(file, { ...options, readOnly: isReader || readOnly })),
        deadline,
      )
    } catch (error) {
      if (resultCode(error) === 0) throw error
      throw makeFileError(file, error)
    }
  }

  #deadline(): number {
    return performance.now() + this.#options.busyLimitMs
  }

  #busyError(cause?: unknown): Error {
    const seconds = this.#options.busyLimitMs / 1000
    return errors.WP_STORE_BUSY({ database: this.#options.file, seconds }, { cause, retryAfterSeconds: 1 })
  }

  #replacedError(): Error {
    return errors.WP_STORE_REPLACED({ file: this.#options.file }, { retryAfterSeconds: 60 })
  }

  #closedError(): Error {
    return errors.WP_STORE_CLOSED({ database: this.#options.file })
  }
}

function closeSlot(slot: Slot): void {
  slot.handle?.close()
  slot.handle = undefined
}
