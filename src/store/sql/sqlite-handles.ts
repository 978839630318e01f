import { errors } from './errors.ts'
import { Slots } from './slots.ts'
import { SqliteHandle } from './sqlite-handle.ts'
import { untilDone } from './wait.ts'

export interface SqliteHandlesOptions {
  readonly file: string
  readonly synchronous: 'FULL' | 'NORMAL' | 'OFF'
  /** Handles at most for read-only transactions and streams. */
  readonly readers: number
  readonly busyLimitMs: number
}

/** A handle that one transaction or stream has for itself until it releases it. */
export interface Lease {
  readonly handle: SqliteHandle
  readonly release: () => void
}

interface Slot {
  handle: SqliteHandle | undefined
}

/** How long a process may write without a break, and what counts as one. */
const writingMs = 50
const freeMs = 3

const busy = 5
const readOnly = 8
const full = 13
const resultCode = (error: unknown) => ((error as { errcode?: number } | undefined)?.errcode ?? 0) & 0xff

/** Whether SQLite refused because the handle may not write. */
export function isReadOnlyError(error: unknown): boolean {
  return resultCode(error) === readOnly
}

/**
 * The handles of one SQLite file: one that writes, one that every single query reads by, and a few for whoever reads
 * longer. Writers stand in line here, asynchronously; for other processes' writers it is tried again until the limit.
 */
export class SqliteHandles {
  readonly #options: SqliteHandlesOptions
  readonly #slots: Slot[]
  readonly #writers: Slots<Slot>
  readonly #readers: Slots<Slot>
  readonly #shared: Slot = { handle: undefined }
  #writingSince = 0
  #freeSince = 0
  #isClosed = false
  #leases = 0
  #allReturned: (() => void) | undefined

  constructor(options: SqliteHandlesOptions) {
    this.#options = options
    const writer: Slot = { handle: undefined }
    const readers = Array.from({ length: options.readers }, (): Slot => ({ handle: undefined }))
    this.#slots = [this.#shared, ...readers, writer] // the writer closes last: its close empties the write-ahead log
    this.#writers = new Slots([writer])
    this.#readers = new Slots(readers)
  }

  /** Opens the first handles. @throws WP_STORE_FILE, WP_STORE_BUSY */
  async open(): Promise<void> {
    if (this.#shared.handle !== undefined) return
    const writer = await this.leaseWriter() // first, since it makes the file a write-ahead one
    writer.release()
    await this.#handleOf(this.#shared, true, this.#deadline())
  }

  /** Runs a single query; it sees all that was committed before and waits for no writer. */
  async read<Value>(work: (handle: SqliteHandle) => Value): Promise<Awaited<Value>> {
    const deadline = this.#deadline()
    const handle = this.#shared.handle ?? (await this.#handleOf(this.#shared, true, deadline))
    return this.whileBusy(() => work(handle), deadline)
  }

  /** Runs a single statement that writes, alone. @throws WP_STORE_BUSY */
  async write<Value>(work: (handle: SqliteHandle) => Value): Promise<Awaited<Value>> {
    const deadline = this.#deadline()
    const { handle, release } = await this.leaseWriter(deadline)
    try {
      return await this.whileBusy(() => work(handle), deadline)
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

  /** Tries again while another process is in the way. @throws WP_STORE_BUSY */
  whileBusy<Value>(attempt: () => Value, deadline = this.#deadline()): Promise<Awaited<Value>> {
    const isNotYet = (error: unknown) => resultCode(error) === busy
    return untilDone({ attempt, isNotYet, deadline, tooLate: (cause) => this.#busyError(cause) })
  }

  /** The error of a statement as callers see it. */
  explain(error: unknown): unknown {
    if (resultCode(error) !== full) return error
    return errors.WP_STORE_FULL({ database: this.#options.file }, { cause: error })
  }

  /** Refuses new work, lets what runs come to its end within the limit, and closes every handle. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const slots of [this.#writers, this.#readers]) slots.refuse(this.#closedError())
    if (this.#leases > 0) {
      const timer = setTimeout(() => this.#allReturned?.(), this.#options.busyLimitMs)
      await new Promise<void>((resolve) => (this.#allReturned = resolve))
      clearTimeout(timer)
    }
    for (const slot of this.#slots) closeSlot(slot)
  }

  async #lease(slots: Slots<Slot>, options: { readOnly: boolean; deadline: number }): Promise<Lease> {
    if (this.#isClosed) throw this.#closedError()
    const slot = await slots.take(options.deadline - performance.now(), () => this.#busyError())
    this.#leases++
    if (slots === this.#writers && performance.now() - this.#freeSince >= freeMs) this.#writingSince = performance.now()
    const release = () => {
      // What still has a transaction here could not be rolled back: only a new handle is sure to hold no lock.
      if (slot.handle?.isInTransaction) closeSlot(slot)
      this.#leases--
      this.#giveOn(slots, slot)
      if (this.#leases === 0) this.#allReturned?.()
    }
    try {
      return { handle: await this.#handleOf(slot, options.readOnly, options.deadline), release }
    } catch (error) {
      release()
      throw error
    }
  }

  // A process that writes without a break leaves the lock free for moments only, which another one that tries again and
  // again finds by luck. So now and then it is left free for as long as that one needs to find it.
  #giveOn(slots: Slots<Slot>, slot: Slot): void {
    const isLong = slots === this.#writers && performance.now() - this.#writingSince > writingMs
    this.#freeSince = performance.now()
    if (!isLong) return slots.give(slot)
    setTimeout(() => {
      this.#writingSince = performance.now()
      slots.give(slot)
    }, freeMs)
  }

  async #handleOf(slot: Slot, isReader: boolean, deadline: number): Promise<SqliteHandle> {
    if (this.#isClosed) throw this.#closedError()
    const { file, synchronous } = this.#options
    try {
      return await this.whileBusy(
        () => (slot.handle ??= new SqliteHandle(file, { readOnly: isReader, synchronous })),
        deadline,
      )
    } catch (error) {
      if (resultCode(error) === 0) throw error
      throw errors.WP_STORE_FILE({ file, reason: (error as Error).message }, { cause: error })
    }
  }

  #deadline(): number {
    return performance.now() + this.#options.busyLimitMs
  }

  #busyError(cause?: unknown): Error {
    const seconds = this.#options.busyLimitMs / 1000
    return errors.WP_STORE_BUSY({ database: this.#options.file, seconds }, { cause, retryAfterSeconds: 1 })
  }

  #closedError(): Error {
    return errors.WP_STORE_CLOSED({ database: this.#options.file })
  }
}

function closeSlot(slot: Slot): void {
  slot.handle?.close()
  slot.handle = undefined
}
