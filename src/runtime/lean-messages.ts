import { IncomingMessage, ServerResponse, type OutgoingHttpHeaders } from 'node:http'
import { errorCodes } from 'fastify'

const maxSmallBytes = 4 * 1024
const bufferBytes = 16 * 1024
const maxDelayMs = 20

/** Small chunks of a body, before a reader of the stream gets them. */
interface Joined {
  buffer: Buffer | undefined
  length: number
  timer: NodeJS.Timeout | undefined
}

/** Called with the whole body, or with why there is none. */
export type BodyCallback = (failure: Error | null, bytes?: Buffer) => void

/**
 * A request that joins small chunks: Node creates an object for each chunk, and a client may send chunks of one byte. Its
 * properties are only set when they are needed, because most requests have no body.
 */
export class LeanRequest extends IncomingMessage {
  /** Set for a valid token, whose caller may send the body slowly. */
  declare isAuthorized?: boolean
  /** Set for a body that may be large: for how many seconds it may arrive. */
  declare maxSeconds?: number
  declare private collector: BodyCollector | undefined
  declare private joined: Joined | undefined
  /** Of Node since 24.12: what it does with requests without a body. */
  declare private readonly _dumpAndCloseReadable: (() => void) | undefined

  /**
   * Collects the body without the events of a stream, each of which would cost a turn of the queue.
   * @returns false if that is not possible: some of the body has already arrived, or this Node cannot do it
   */
  collectBody(limit: number, done: BodyCallback): boolean {
    const isUntouched = !this.complete && !this.destroyed && this.joined === undefined && this.readableLength === 0
    if (!isUntouched || this.readableDidRead || this._dumpAndCloseReadable === undefined) return false
    this.collector = new BodyCollector(limit, done)
    return true
  }

  override push(chunk: Buffer | null): boolean {
    if (this.collector !== undefined) return this.collect(this.collector, chunk)
    if (chunk === null || chunk.length >= maxSmallBytes) {
      this.flush()
      return super.push(chunk)
    }
    const joined = (this.joined ??= { buffer: undefined, length: 0, timer: undefined })
    if (joined.buffer === undefined) joined.buffer = chunk
    else this.join(joined, chunk)
    joined.length += chunk.length
    joined.timer ??= setTimeout(() => this.flush(), maxDelayMs) // for code that reads a body as it arrives
    return this.readableLength + joined.length < this.readableHighWaterMark
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const { collector } = this
    this.collector = undefined
    super._destroy(error, callback)
    collector?.fail(error ?? new Error('aborted'))
  }

  private collect(collector: BodyCollector, chunk: Buffer | null): true {
    if (chunk !== null && collector.add(chunk)) return true
    this.collector = undefined
    this._dumpAndCloseReadable!() // Node then ignores the rest of a body that is too long
    if (chunk === null) collector.end()
    return true
  }

  private join(joined: Joined, chunk: Buffer): void {
    if (joined.length + chunk.length > bufferBytes) {
      this.flush()
      joined.buffer = chunk
      return
    }
    if (joined.buffer!.length < bufferBytes) {
      const first = joined.buffer!
      joined.buffer = Buffer.allocUnsafeSlow(bufferBytes)
      first.copy(joined.buffer)
    }
    chunk.copy(joined.buffer!, joined.length)
  }

  private flush(): void {
    const { joined } = this
    if (joined === undefined) return
    clearTimeout(joined.timer)
    const bytes = joined.buffer?.subarray(0, joined.length)
    Object.assign(joined, { buffer: undefined, length: 0, timer: undefined })
    if (bytes !== undefined && !this.destroyed) super.push(bytes)
  }
}

/** Collects the chunks of a body. The only chunk of a body is not copied; small ones are joined. */
class BodyCollector {
  readonly #limit: number
  readonly #done: BodyCallback
  readonly #parts: Buffer[] = []
  #length = 0
  #last: Buffer | undefined
  #lastLength = 0

  constructor(limit: number, done: BodyCallback) {
    this.#limit = limit
    this.#done = done
  }

  /** @returns false if the body is too long, after saying so */
  add(chunk: Buffer): boolean {
    this.#length += chunk.length
    if (this.#length > this.#limit) {
      this.#done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
      return false
    }
    if (this.#parts.length === 0 || chunk.length >= maxSmallBytes) {
      this.#closeLast()
      this.#parts.push(chunk)
    } else this.#join(chunk)
    return true
  }

  end(): void {
    this.#closeLast()
    const [first] = this.#parts
    this.#done(null, this.#parts.length === 1 ? first! : Buffer.concat(this.#parts))
  }

  fail(error: Error): void {
    this.#done(Object.assign(error, { statusCode: 400 }))
  }

  #join(chunk: Buffer): void {
    if (this.#lastLength + chunk.length > bufferBytes) this.#closeLast()
    this.#last ??= Buffer.allocUnsafeSlow(bufferBytes)
    chunk.copy(this.#last, this.#lastLength)
    this.#lastLength += chunk.length
  }

  #closeLast(): void {
    if (this.#last === undefined) return
    this.#parts.push(this.#last.subarray(0, this.#lastLength))
    this.#last = undefined
    this.#lastLength = 0
  }
}

const longString = 16 * 1024

/** What has to be known about each response. Adding listeners to every response would cost more. */
export interface ResponseObserver {
  /** All of the response has been passed to its connection. */
  written(): void
  /** The response has been sent, or its connection was closed. Called before listeners. */
  closed(): void
}

/**
 * A response that sends long strings as bytes: for a string, Node allocates three bytes per character until it is sent.
 * The bytes are freed as soon as they are sent, because the garbage collector lets many of them add up.
 */
export class LeanResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  declare observer: ResponseObserver | undefined
  /** Headers that each response has, unless it has another value for one. */
  declare baseHeaders: Readonly<Record<string, string>> | undefined
  /** Ends a stream whose clients are to connect again, because the server shuts down. */
  declare onStop: (() => void) | undefined
  declare private wasTold: true | undefined
  declare private isStopped: boolean | undefined
  /** Of Node: whether the headers have been passed to the connection. */
  declare private readonly _headerSent: boolean

  /** Whether the server has begun to end the response because it shuts down. */
  get isStopping(): boolean {
    return this.wasTold === true
  }

  /**
   * Ends a stream that may never end by itself, because the server shuts down. Clients of events connect again after a
   * normal end. Other streams are told by the event `stopping`. If they have not ended by the next call, they are cut off,
   * so that no client takes a part for the whole, unless their length is known: these end by themselves.
   */
  stop(): void {
    if (this.writableEnded || this.isStopped === true) return
    const { onStop } = this
    if (onStop !== undefined) {
      this.isStopped = this.wasTold = true
      return onStop()
    }
    const isEvents = /^text\/event-stream\b/i.test(String(this.getHeader('content-type')))
    if (!isEvents && (!this.headersSent || this.hasHeader('content-length'))) return
    const isTold = this.isStopping
    this.isStopped = isEvents || isTold
    this.wasTold = true
    if (isEvents) this.end()
    else if (isTold) this.destroy()
    else this.emit('stopping')
  }

  override emit(event: string | symbol, ...given: unknown[]): boolean {
    if (event === 'prefinish') this.observer?.written()
    else if (event === 'close') this.observer?.closed()
    return super.emit(event, ...given)
  }

  override writeHead(status: number, reason?: unknown, headers?: unknown): this {
    const given = typeof reason === 'string' ? headers : (headers ?? reason)
    const { baseHeaders } = this
    if (baseHeaders !== undefined) {
      if (typeof given === 'object' && given !== null && !Array.isArray(given))
        addMissing(given as Headers, baseHeaders)
      else for (const name in baseHeaders) if (!this.hasHeader(name)) this.setHeader(name, baseHeaders[name]!)
    }
    return super.writeHead(status, reason as string, headers as OutgoingHttpHeaders)
  }

  // What the source of the stream still writes would be an error after the end.
  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    return this.isStopped !== true && super.write(chunk, encoding as BufferEncoding, callback as () => void)
  }

  /**
   * Writes a short text as one chunk of a body that is sent in chunks. Node passes a chunk to the connection in four parts,
   * each of which takes more time than the text.
   * @returns whether more may be written now
   */
  writeText(text: string): boolean {
    const { socket } = this
    const isSent = this.chunkedEncoding && this._headerSent && !this.writableEnded && this.req.method !== 'HEAD'
    // What has been written in this turn, or has not been taken yet, comes first.
    const isFree = socket?.writable === true && socket.writableCorked === 0 && this.writableLength === 0
    // An empty chunk would end the body.
    if (!isSent || !isFree || text === '' || text.length > maxSmallBytes) return this.write(text)
    if (this.isStopped === true) return false
    const bytes = Buffer.byteLength(text)
    return socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, bytes === text.length ? 'latin1' : 'utf8')
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

type Headers = Record<string, unknown>

function addMissing(headers: Headers, added: Readonly<Record<string, string>>): void {
  for (const name in added) headers[name] ??= added[name]
}
