import { Readable } from 'node:stream'
import { ActionResponse } from './action-context.ts'

/** What goes out byte by byte as it is. */
export interface RawBody {
  readonly payload: Readable | Uint8Array
  /** What it says of itself. */
  readonly type?: string
}

/** Finds out whether a result is no JSON but a stream, bytes or a file. */
export function asRawBody(body: unknown): RawBody | undefined {
  if (typeof body !== 'object' || body === null || isPlain(body)) return undefined
  if (body instanceof Readable) return { payload: catchErrors(body) }
  if (body instanceof Uint8Array) return { payload: body }
  if (body instanceof ArrayBuffer) return { payload: new Uint8Array(body) }
  if (body instanceof Blob)
    return { payload: catchErrors(Readable.from(body.stream())), ...(body.type && { type: body.type }) }
  return isIterable(body) ? { payload: catchErrors(Readable.from(body)) } : undefined
}

/** A stream may fail before anything reads it, while events are stored for example: an error event would end the process. */
function catchErrors(stream: Readable): Readable {
  return stream.on('error', () => undefined)
}

/** What most results are, told at once. */
function isPlain(body: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(body)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}

/** A stream of the web, or an async generator that runs. */
function isIterable(body: object): body is AsyncIterable<unknown> {
  return Symbol.asyncIterator in body
}

/** Lets go of what a result that nobody gets holds open, a file for example. */
export function discardResult(result: unknown): void {
  const raw = asRawBody(result instanceof ActionResponse ? result.body : result)
  if (raw?.payload instanceof Readable) raw.payload.destroy()
}
