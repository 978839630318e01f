import type { ServerResponse } from 'node:http'
import type { WaypostError } from '../kit/index.ts'
import { bodyOf, typeOf } from './problem.ts'

/** Answers a request that reaches no generation, and lets its connection go, so that the next one may go elsewhere. */
export function refuse(response: ServerResponse, error: WaypostError): void {
  response.writeHead(error.status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(error.status === 503 ? { 'retry-after': String(error.retryAfterSeconds ?? 1) } : {}),
    connection: 'close',
  })
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  response.end(JSON.stringify({ ...bodyOf(typeOf(error), error.status, error.message), ...hint }))
}
