import { IncomingMessage, ServerResponse } from 'node:http'

const maxSmallBytes = 4 * 1024
const bufferBytes = 16 * 1024
const maxDelayMs = 20

/** A request that joins small chunks: Node creates an object for each chunk, and a client may send chunks of one byte. */
export class LeanRequest extends IncomingMessage {
  #buffer: Buffer | undefined
  #length = 0
  #timer: NodeJS.Timeout | undefined

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length >= maxSmallBytes) {
      this.#flush()
      return super.push(chunk)
    }
    if (this.#buffer === undefined) this.#buffer = chunk
    else this.#join(chunk)
    this.#length += chunk.length
    this.#timer ??= setTimeout(() => this.#flush(), maxDelayMs) // for code that reads a body as it arrives
    return this.readableLength + this.#length < this.readableHighWaterMark
  }

  #join(chunk: Buffer): void {
    if (this.#length + chunk.length > bufferBytes) {
      this.#flush()
      this.#buffer = chunk
      return
    }
    if (this.#buffer!.length < bufferBytes) {
      const first = this.#buffer!
      this.#buffer = Buffer.allocUnsafeSlow(bufferBytes)
      first.copy(this.#buffer)
    }
    chunk.copy(this.#buffer!, this.#length)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const bytes = this.#buffer?.subarray(0, this.#length)
    this.#buffer = undefined
    this.#length = 0
    if (bytes !== undefined && !this.destroyed) super.push(bytes)
  }
}

const longString = 16 * 1024

/**
 * A response that sends long strings as bytes: for a string, Node allocates three bytes per character until it is sent.
 * The bytes are freed as soon as they are sent, because the garbage collector lets many of them add up.
 */
export class LeanResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  #isStopping = false
  #isStopped = false

  /** Whether the server has begun to end the response because it shuts down. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /**
   * Ends a stream that may never end by itself, because the server shuts down. Clients of events connect again after a
   * normal end. Other streams are told by the event `stopping`. If they have not ended by the next call, they are cut off,
   * so that no client takes a part for the whole, unless their length is known: these end by themselves.
   */
  stop(): void {
    if (this.writableEnded || this.#isStopped) return
    const isEvents = /^text\/event-stream\b/i.test(String(this.getHeader('content-type')))
    if (!isEvents && (!this.headersSent || this.hasHeader('content-length'))) return
    this.#isStopped = isEvents || this.#isStopping
    const isTold = this.#isStopping
    this.#isStopping = true
    if (isEvents) this.end()
    else if (isTold) this.destroy()
    else this.emit('stopping')
  }

  // What the source of the stream still writes would be an error after the end.
  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    return !this.#isStopped && super.write(chunk, encoding as BufferEncoding, callback as () => void)
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: () => void): this {
    if (typeof chunk !== 'string' || chunk.length <= longString)
      return super.end(chunk, encoding as BufferEncoding, callback)
    const bytesEncoding = typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(chunk, bytesEncoding)) // never part of a shared pool
    bytes.write(chunk, bytesEncoding)
    // By then, the socket has written the bytes or has been closed.
    this.once('close', () => bytes.buffer.transfer(0))
    return super.end(bytes, encoding as BufferEncoding, callback)
  }
}
