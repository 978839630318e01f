import { errorCodes, type RequestPayload } from 'fastify'
import { LeanRequest, type BodyCallback } from '../lean-messages.ts'

/** Reads a whole body into memory. A body that arrives in one chunk, as most do, is not copied. */
export function collectBody(payload: RequestPayload, limit: number, done: BodyCallback): void {
  if (!(payload instanceof LeanRequest && payload.collectBody(limit, done))) readBody(payload, limit, done)
}

function readBody(payload: RequestPayload, limit: number, done: BodyCallback): void {
  const parts: Buffer[] = []
  let length = 0
  const read = (part: Buffer) => {
    if (length > limit) return
    length += part.length
    if (length > limit) done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    else parts.push(part)
  }
  const end = () => {
    if (length > limit) return
    const [first] = parts
    const bytes = parts.length === 1 ? first! : Buffer.concat(parts)
    parts.length = 0 // the listeners live until the response is sent
    done(null, bytes)
  }
  if (payload.readableEnded) return end() // see the gateway
  payload.on('data', read)
  payload.on('end', end)
  payload.on('error', (error: Error) => length <= limit && done(Object.assign(error, { statusCode: 400 })))
}
