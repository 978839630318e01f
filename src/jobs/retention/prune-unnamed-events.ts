import { pruneUndeclaredEvents } from '../../events/index.ts'
import type { Settings } from '../../kit/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import type { System } from '../../store/index.ts'

export interface PruneUnnamedOptions {
  readonly settings: Settings
  readonly signal?: AbortSignal | undefined
  readonly chunk?: number
  /** By the database's clock. */
  readonly now: number
}

type Count = readonly [table: 'waypost_message' | 'waypost_delivery', rows: number]

/**
 * Deletes what is for events that the active release does not name: it waits, in case that one names them again, for as
 * long as what is over is kept. Before anything was deployed nothing goes.
 */
export async function pruneUnnamedEvents(
  system: System,
  { settings, chunk = 500, signal, now }: PruneUnnamedOptions,
): Promise<readonly Count[]> {
  const release = await loadActiveRelease(system)
  if (release === undefined || signal?.aborted) return []
  const { messages, deliveries } = await pruneUndeclaredEvents(system, {
    events: Object.keys(release.manifest.events),
    messagesBefore: now - settings.keep.messages,
    deliveriesBefore: now - settings.keep.deliveries,
    chunk,
    signal,
  })
  return [
    ['waypost_message', messages],
    ['waypost_delivery', deliveries],
  ]
}
