import { Readable, type Writable } from 'node:stream'
import { LeanResponse } from '../lean-messages.ts'

/** Writes one item of a stream. @throws for an invalid item */
type ItemWriter = (item: unknown) => string

/** How the items of a media type are separated. */
export interface ItemFormat {
  /** Writes an item. */
  write(item: unknown, writeJson: (value: unknown) => string): string
  /** What clients ignore, to show that the connection is alive. */
  readonly comment?: string
}

/** Told about a stream of values. */
export interface ItemStreamObserver {
  /** Before the first value is asked for. */
  started(): void
  /** Before something is sent, each time. */
  sending(): void
  /** Nothing of the source runs any more. */
  returned(): void
  /** Fields of an item are not declared by its schema. */
  dropped(fields: readonly string[]): void
}

/**
 * The body of a stream of values: asks for the next value only when the previous one was taken by the connection. Ends its
 * source when it is destroyed.
 */
export class ItemStream extends Readable {
  readonly format: ItemFormat
  readonly #source: AsyncIterator<unknown> | Iterator<unknown>
  readonly #write: ItemWriter
  #isPulling = false
  #hasStarted = false
  #hasReturned = false
  /** What `pipe` writes to. */
  #target: Writable | undefined
  #endsTarget = true
  /** Items that were sent. */
  count = 0
  observer: ItemStreamObserver | undefined

  constructor(source: AsyncIterable<unknown> | Iterable<unknown>, format: ItemFormat, write: ItemWriter) {
    super({ highWaterMark: 16 * 1024 })
    this.format = format
    this.#write = write
    this.#source = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
  }

  /** Sends a comment, unless the client has not read what was sent before. */
  remind(): void {
    const { comment } = this.format
    if (comment === undefined || this.destroyed || this.readableEnded) return
    if (this.#target?.writableNeedDrain !== true && this.readableLength === 0) this.#send(comment)
  }

  override _read(): void {
    if (this.#target === undefined) this.#start()
  }

  /** Writes without the buffer of a stream, whose events cost more than those that are sent. */
  override pipe<Target extends NodeJS.WritableStream>(target: Target, { end = true }: { end?: boolean } = {}): Target {
    this.#target = target as unknown as Writable
    this.#endsTarget = end
    this.#target.on('drain', this.#start)
    process.nextTick(this.#start)
    return target
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    callback(error)
    if (this.#hasReturned) return
    this.#hasReturned = true
    const returned = () => this.observer?.returned()
    // A source that waits for something returns after that: it gets the signal of the context too.
    const end = async () => this.#source.return?.()
    end().then(returned, returned)
  }

  readonly #start = (): void => {
    if (this.#isPulling || this.destroyed || this.readableEnded) return
    if (!this.#hasStarted) this.observer?.started()
    this.#hasStarted = true
    this.#pull()
  }

  /** @returns whether more may be sent now */
  #send(text: string): boolean {
    this.observer?.sending()
    const target = this.#target
    if (target === undefined) return this.push(text)
    return target instanceof LeanResponse ? target.writeText(text) : target.write(text)
  }

  #finish(): void {
    this.#hasReturned = true
    this.observer?.sending()
    if (this.#endsTarget) this.#target?.end()
    this.push(null)
    if (this.#target !== undefined) this.resume() // emits the end
    this.observer?.returned()
  }

  #pull(): void {
    this.#isPulling = true
    try {
      const next = this.#source.next()
      if (next instanceof Promise) next.then(this.#got, this.#failed)
      else queueMicrotask(() => this.#got(next))
    } catch (error) {
      this.#failed(error)
    }
  }

  readonly #got = ({ done, value }: IteratorResult<unknown>): void => {
    this.#isPulling = false
    if (this.destroyed) return
    if (done === true) return this.#finish()
    let text
    try {
      text = this.#write(value)
    } catch (error) {
      return this.#failed(error)
    }
    this.count += 1
    if (this.#send(text)) this.#pull()
  }

  readonly #failed = (error: unknown): void => {
    this.#isPulling = false
    this.destroy(error instanceof Error ? error : new Error('a stream failed', { cause: error }))
  }
}
