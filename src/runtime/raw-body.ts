import { Readable } from 'node:stream'
import { ActionResponse } from './action-response.ts'

/** A body that is sent unchanged. */
export interface RawBody {
  readonly payload: Readable | Uint8Array
  /** The content type of the body itself. */
  readonly type?: string
}

/** Returns the raw body if a result is a stream, bytes or a file. */
export function asRawBody(body: unknown): RawBody | undefined {
  if (typeof body !== 'object' || body === null || isPlain(body)) return undefined
  if (body instanceof Readable) return { payload: catchErrors(body) }
  if (body instanceof Uint8Array) return { payload: body }
  if (body instanceof ArrayBuffer) return { payload: new Uint8Array(body) }
  if (body instanceof Blob)
    return { payload: catchErrors(Readable.from(body.stream())), ...(body.type && { type: body.type }) }
  return isIterable(body) ? { payload: catchErrors(Readable.from(body)) } : undefined
}

/**
 * Ignores errors before the stream is read, for example while events are stored. An unhandled error event would end the
 * process.
 */
function catchErrors(stream: Readable): Readable {
  return stream.on('error', () => undefined)
}

/** Fast path for most results. */
function isPlain(body: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(body)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}

/** Whether a body is a web stream or an async generator. */
function isIterable(body: object): body is AsyncIterable<unknown> {
  return Symbol.asyncIterator in body
}

/** Releases what a result that is not sent keeps open, such as a file. */
export function discardResult(result: unknown): void {
  const raw = asRawBody(result instanceof ActionResponse ? result.body : result)
  if (raw?.payload instanceof Readable) raw.payload.destroy()
}
