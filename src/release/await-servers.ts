import { setTimeout as pause } from 'node:timers/promises'
import { isWaypostError, shortId, type Clock } from '../kit/index.ts'
import { errors } from './errors.ts'
import type { LiveServer } from './live-servers.ts'

export interface AwaitServersOptions {
  /** The id of the expected release. */
  readonly release: string
  readonly limitMs: number
  readonly clock: Pick<Clock, 'monotonic'>
  list(): Promise<readonly LiveServer[]>
  /** Returns the id of the active release: servers do not wait for one that was superseded. */
  loadActiveId?(): Promise<string | undefined>
  readonly intervalMs?: number
  /** Ends the wait. Servers that have not finished are reported as late. */
  readonly signal?: AbortSignal | undefined
}

/** The state of a release on one server. */
export interface ServerOutcome {
  /** Host and port. */
  readonly name: string
  /** `late` if the server neither serves the release nor reported an error. */
  readonly state: 'serving' | 'failed' | 'late'
  /** The id of the release that it serves. */
  readonly release: string | null
  readonly error: string | null
  /** How long the wait was, in milliseconds. */
  readonly ms: number
}

/**
 * Waits until each live server serves a release or reports why it cannot. Returns at once if no server is alive.
 * Servers that start meanwhile are included, servers that stop are not. Retries while System is unavailable.
 * @throws WP_RELEASE_REPLACED as soon as another release was activated
 */
export async function awaitServers(options: AwaitServersOptions): Promise<readonly ServerOutcome[]> {
  const { release, limitMs, clock, intervalMs = 100, signal } = options
  const startedAt = clock.monotonic()
  const firstSeen = new Map<string, ServerOutcome>()
  for (;;) {
    const ms = clock.monotonic() - startedAt
    const isLastCheck = ms >= limitMs || signal?.aborted === true
    const servers = await list(options, isLastCheck)
    const outcomes = servers?.map((server) => {
      const { id, name, release: served, error } = server
      const known = firstSeen.get(id)
      const state = stateOfServer(server, release)
      if (known?.state === state) return { ...known, error }
      const outcome = { name, state, release: served, error, ms: clock.monotonic() - startedAt }
      firstSeen.set(id, outcome)
      return outcome
    })
    if (outcomes?.every(({ state }) => state === 'serving') === true) return outcomes
    if (outcomes !== undefined) await assertNotReplaced(options)
    if (outcomes !== undefined && (isLastCheck || outcomes.every(({ state }) => state !== 'late'))) return outcomes
    await pause(Math.min(intervalMs, Math.max(0, limitMs - ms)), undefined, { signal }).catch(() => undefined)
  }
}

async function assertNotReplaced({ release, loadActiveId }: AwaitServersOptions): Promise<void> {
  const active = loadActiveId === undefined ? release : await loadActiveId().catch(() => release)
  if (active !== release)
    throw errors.WP_RELEASE_REPLACED({ id: shortId(release), active: active === undefined ? 'none' : shortId(active) })
}

async function list(options: AwaitServersOptions, isLastCheck: boolean): Promise<readonly LiveServer[] | undefined> {
  try {
    return (await options.list()).filter(({ state }) => state !== 'stopping')
  } catch (error) {
    if (isLastCheck || !isWaypostError(error) || error.kind !== 'external') throw error
    return undefined
  }
}

/** Returns the state of a release on a server. An error that concerns another release does not count. */
export function stateOfServer({ release, wanted, state }: LiveServer, expected: string): ServerOutcome['state'] {
  if (release === expected && state !== 'failed') return 'serving'
  return state === 'failed' && wanted === expected ? 'failed' : 'late'
}
