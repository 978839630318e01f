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
  /**
   * Call before a reuse revokes tokens. The caller of a request that waited for longer than a client does may have
   * repeated it on another server and used what it got, so that this request only looks like a reuse.
   * @throws WP_AUTH_REQUEST_LATE
   */
  assertOnTime(): void
}

/** Shorter than the timeout of any client. */
const minClientTimeoutMs = 1000
/**
 * Sockets are read again after this time. Clients wait longer before they disconnect. Most requests take less time, so
 * that they do not hold the write lock of SQLite for two more turns of the event loop.
 */
const maxReadAgeMs = 100

export function watchCaller({ clock, settings, stalledMs }: TokenIssuer, { raw: { socket } }: FastifyRequest): Caller {
  const waitedBefore = stalledMs()
  const startedAt = clock.monotonic()
  let readAt: { now: number; monotonic: number } | undefined
  /** By the clock that advanced more: some clocks stop while the machine is suspended. */
  const isOld = ({ now, monotonic }: Readonly<{ now: number; monotonic: number }>) =>
    Math.max(clock.now() - now, clock.monotonic() - monotonic) > maxReadAgeMs
  function assertWaitedAtMost(maxMs: number): void {
    const waitedMs = Math.max(waitedBefore + clock.monotonic() - startedAt, stalledMs())
    if (waitedMs <= maxMs) return
    throw errors.WP_AUTH_REQUEST_LATE({ seconds: Math.round(waitedMs / 1000) }, { retryAfterSeconds: 1 })
  }
  return {
    assertOnTime: () => assertWaitedAtMost(minClientTimeoutMs),
    async assertStillWaiting() {
      if (readAt === undefined || isOld(readAt) || stalledMs() > 0) await readSockets()
      readAt = { now: clock.now(), monotonic: clock.monotonic() }
      if (socket.destroyed || !socket.writable) throw errors.WP_AUTH_CALLER_GONE({}, { retryAfterSeconds: 1 })
      assertWaitedAtMost(Math.max(settings().refresh_grace, minClientTimeoutMs))
    },
  }
}

/** Lets the event loop read sockets once: the end of a connection is read in the turn after the request. */
async function readSockets(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
