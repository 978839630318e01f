import { setTimeout as pause } from 'node:timers/promises'
import { isWaypostError, type Clock } from '../kit/index.ts'
import type { LiveServer } from './live-servers.ts'

export interface AwaitServersOptions {
  /** The release that they shall serve. */
  readonly release: string
  readonly limitMs: number
  readonly clock: Pick<Clock, 'monotonic'>
  list(): Promise<readonly LiveServer[]>
  readonly everyMs?: number
  /** Ends the wait; what is not there yet is late. */
  readonly signal?: AbortSignal | undefined
}

/** What came of a release on one server. */
export interface ServerOutcome {
  /** By host and port. */
  readonly name: string
  /** `late` when it has neither served the release nor said why not. */
  readonly state: 'serving' | 'failed' | 'late'
  /** What it serves. */
  readonly release: string | null
  readonly error: string | null
  /** How long it was waited for. */
  readonly ms: number
}

/**
 * Waits until every living server serves a release or says why it does not; for none where none is alive. A server that
 * is stopped meanwhile is not waited for, one that is started is. A System that cannot be asked for a moment is asked
 * again.
 */
export async function awaitServers(options: AwaitServersOptions): Promise<readonly ServerOutcome[]> {
  const { release, limitMs, clock, everyMs = 100, signal } = options
  const began = clock.monotonic()
  const firstSeen = new Map<string, ServerOutcome>()
  for (;;) {
    const ms = clock.monotonic() - began
    const isOver = ms >= limitMs || signal?.aborted === true
    const servers = await list(options, isOver)
    const outcomes = servers?.map((server) => {
      const { id, name, release: served, error } = server
      const known = firstSeen.get(id)
      const state = stateOf(server, release)
      if (known?.state === state) return { ...known, error }
      const outcome = { name, state, release: served, error, ms: clock.monotonic() - began }
      firstSeen.set(id, outcome)
      return outcome
    })
    if (outcomes !== undefined && (isOver || outcomes.every(({ state }) => state !== 'late'))) return outcomes
    await pause(Math.min(everyMs, Math.max(0, limitMs - ms)), undefined, { signal }).catch(() => undefined)
  }
}

async function list(options: AwaitServersOptions, isOver: boolean): Promise<readonly LiveServer[] | undefined> {
  try {
    return (await options.list()).filter(({ state }) => state !== 'stopping')
  } catch (error) {
    if (isOver || !isWaypostError(error) || error.kind !== 'external') throw error
    return undefined
  }
}

/** What it says of another release that did not come up is none of this one's. */
function stateOf({ release, wanted, state }: LiveServer, expected: string): ServerOutcome['state'] {
  if (release === expected && state !== 'failed') return 'serving'
  return state === 'failed' && wanted === expected ? 'failed' : 'late'
}
