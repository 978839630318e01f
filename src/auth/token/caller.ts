import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'
import type { TokenIssuer } from './tokens.ts'

/**
 * The caller of a request that uses up a refresh token or a code. A caller that has given up asks another server; if this
 * one processed the request nevertheless, it would take the token for stolen.
 */
export interface Caller {
  /**
   * To be called before such a request changes anything, and again before the change is committed.
   * @throws WP_AUTH_CALLER_GONE, WP_AUTH_REQUEST_LATE
   */
  assertWaiting(): Promise<void>
}

/** Less than any client waits before it asks another server. */
const leastLimitMs = 1000

export function watchCaller({ clock, settings, stalledMs }: TokenIssuer, { raw: { socket } }: FastifyRequest): Caller {
  const waitedBefore = stalledMs()
  const began = clock.monotonic()
  let isNew = true
  return {
    async assertWaiting() {
      if (isNew || stalledMs() > 0) await readSockets()
      isNew = false
      if (socket.destroyed || !socket.writable) throw errors.WP_AUTH_CALLER_GONE({}, { retryAfterSeconds: 1 })
      const waitedMs = Math.max(waitedBefore + clock.monotonic() - began, stalledMs())
      if (waitedMs <= Math.max(settings().refresh_grace, leastLimitMs)) return
      throw errors.WP_AUTH_REQUEST_LATE({ seconds: Math.round(waitedMs / 1000) }, { retryAfterSeconds: 1 })
    },
  }
}

/** The end of a connection is read after the request, in the next turn of the event loop. */
async function readSockets(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
