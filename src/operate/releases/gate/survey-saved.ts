import { findOlderServers, loadActiveId, type BuiltRelease } from '../../../release/index.ts'
import type { System } from '../../../store/index.ts'
import type { ReleaseFacts } from './facts.ts'

/**
 * Returns what decides whether `dev` may serve what was saved. Saving is a yes to all that a yes allows, so the release is
 * compared with no other. `dev` runs migrations itself, and its diagnostics have the rest.
 * @param id of the release
 */
export async function surveySaved(
  system: System,
  { manifest }: Pick<BuiltRelease, 'manifest'>,
  id: string,
): Promise<ReleaseFacts> {
  const active = await loadActiveId(system)
  return {
    id,
    built: manifest.waypost,
    active: active === undefined ? undefined : { id: active },
    olderServers: await findOlderServers(system, manifest),
    changes: [],
    breakingChanges: 'warn',
    accessWarnings: [],
    missingVariables: [],
    pendingMigrations: [],
    droppedMigrations: [],
    failingActions: [],
    unheldScopes: [],
    rollbacks: { reachable: [], lost: [], migrations: [] },
  }
}
