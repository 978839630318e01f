import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'
import type { TokenIssuer } from './tokens.ts'

/**
 * The caller of a request that uses up a refresh token or a code. A caller that timed out retries on another server; if
 * this server still processed the first request, the retry would look like a stolen token.
 */
export interface Caller {
  /**
   * Call before such a request changes anything, and again before the change is committed.
   * @throws WP_AUTH_CALLER_GONE, WP_AUTH_REQUEST_LATE
   */
  assertStillWaiting(): Promise<void>
}

/** Shorter than the timeout of any client. */
const minClientTimeoutMs = 1000

export function watchCaller({ clock, settings, stalledMs }: TokenIssuer, { raw: { socket } }: FastifyRequest): Caller {
  const waitedBefore = stalledMs()
  const startedAt = clock.monotonic()
  let isNew = true
  return {
    async assertStillWaiting() {
      if (isNew || stalledMs() > 0) await readSockets()
      isNew = false
      if (socket.destroyed || !socket.writable) throw errors.WP_AUTH_CALLER_GONE({}, { retryAfterSeconds: 1 })
      const waitedMs = Math.max(waitedBefore + clock.monotonic() - startedAt, stalledMs())
      if (waitedMs <= Math.max(settings().refresh_grace, minClientTimeoutMs)) return
      throw errors.WP_AUTH_REQUEST_LATE({ seconds: Math.round(waitedMs / 1000) }, { retryAfterSeconds: 1 })
    },
  }
}

/** Lets the event loop read sockets once: the end of a connection is read in the turn after the request. */
async function readSockets(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
