import { isWaypostError } from '../../kit/index.ts'
import {
  findMissingVariables,
  findOlderServers,
  findPrevious,
  findRelease,
  loadActiveId,
  loadArtifacts,
  loadManifest,
  planChanges,
  requiredVariables,
  type Manifest,
} from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import { loadReleasePlugins, variablesOfConnections, withSystemVariables, type Host } from '../../host/index.ts'
import { countDayCalls } from '../statistics.ts'
import { findRollbackMigrations } from './find-breaking-migrations.ts'
import type { ReleaseFacts } from './gate/facts.ts'

/** What is known before a rollback to a release. */
export interface RollbackSurvey extends ReleaseFacts {
  readonly manifest: Manifest
  /** The active release. A damaged manifest is undefined and does not prevent the rollback. */
  readonly active: { readonly id: string; readonly manifest: Manifest | undefined } | undefined
  /** Migrations that ran since and are in no stored release, so it is unknown whether they are breaking. */
  readonly unknownMigrations: readonly string[]
  /** Connections that could not be opened to read their applied migrations. */
  readonly unreachable: readonly string[]
}

/**
 * Returns what is known about a rollback to a release: what it changes, and what `judgeRelease` needs to decide whether
 * it is possible. Changes nothing.
 * @param beginning prefix of its id; by default the previously active release
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS, WP_RELEASE_NO_PREVIOUS, WP_RELEASE_CORRUPT
 */
export async function surveyRollback(opened: Host, beginning: string | undefined): Promise<RollbackSurvey> {
  const { system } = opened
  const id = beginning === undefined ? await findPrevious(system) : await findRelease(system, beginning)
  const active = await loadActive(system)
  const manifest = await loadManifest(system, id)
  const before = active?.manifest
  const isActive = active?.id === id
  const used = [manifest, ...(before === undefined ? [] : [before])].flatMap(variablesOfConnections)
  const host = isActive ? opened : await withSystemVariables(opened, used)
  const calls = isActive ? {} : await countDayCalls(system)
  const facts = {
    id,
    manifest,
    built: manifest.waypost,
    active,
    ...planChanges({ before, after: manifest }, { calls, variables: host.variables }),
    olderServers: isActive ? [] : await findOlderServers(system, manifest),
    missingVariables: isActive ? [] : await findMissingVariables(system, requiredVariables(manifest)),
    droppedMigrations: [],
    failingActions: [],
  }
  const artifacts = isActive ? [] : await loadArtifacts(system, { id }, manifest.artifacts)
  // The code of the release may need a newer version of Waypost than this one.
  if (isActive || facts.olderServers.length > 0) return { ...facts, ...noMigrations }
  const plugins = await loadReleasePlugins(host, { manifest, artifacts })
  const found = await findRollbackMigrations({ host, plugins }, { active, target: manifest })
  const { pending: pendingMigrations, incompatible: incompatibleMigrations, unknown, unreachable } = found
  return { ...facts, pendingMigrations, rollback: { incompatibleMigrations }, unknownMigrations: unknown, unreachable }
}

const noMigrations = {
  pendingMigrations: [],
  rollback: { incompatibleMigrations: [] },
  unknownMigrations: [],
  unreachable: [],
}

async function loadActive(system: System): Promise<RollbackSurvey['active']> {
  const id = await loadActiveId(system)
  if (id === undefined) return undefined
  try {
    return { id, manifest: await loadManifest(system, id) }
  } catch (error) {
    if (isWaypostError(error) && error.code === 'WP_RELEASE_CORRUPT') return { id, manifest: undefined }
    throw error
  }
}
