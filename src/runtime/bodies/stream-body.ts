import type { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { errors } from '../errors.ts'
import { isCutOff } from './linger.ts'

/** Returns a body as a stream, which fails if the body is larger than its limit or is cut off. */
export function streamBody(payload: Readable, limit: number): ReadableStream<Uint8Array> {
  let received = 0
  const chunks = payload[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  payload.on('error', () => undefined) // the stream fails, if something reads it
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isCutOff(payload)) return controller.error(cutOff(undefined))
        let next: IteratorResult<Buffer>
        try {
          next = await chunks.next()
        } catch (cause) {
          return controller.error(cutOff(cause))
        }
        if (next.done === true)
          return payload.readableEnded && !isCutOff(payload) ? controller.close() : controller.error(cutOff(undefined))
        received += next.value.length
        if (received <= limit) return controller.enqueue(next.value)
        controller.error(errors.WP_RUNTIME_BODY_SIZE({ limit }))
        payload.pause()
      },
      async cancel() {
        payload.pause()
      },
    },
    { highWaterMark: 0 },
  )
}

function cutOff(cause: unknown): Error {
  return errors.WP_RUNTIME_REQUEST({ reason: 'The body ends before its announced length' }, { cause })
}
