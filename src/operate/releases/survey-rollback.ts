import { isWaypostError, shortId } from '../../kit/index.ts'
import {
  findMissingVariables,
  findPrevious,
  findRelease,
  isNewer,
  listLiveServers,
  loadActiveId,
  loadArtifacts,
  loadManifest,
  releaseErrors as errors,
  type Manifest,
  type RollbackSurvey,
} from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import { loadReleasePlugins, variablesOfConnections, withSystemVariables, type Host } from '../../host/index.ts'
import { findRollbackMigrations } from './find-breaking-migrations.ts'

/**
 * Checks that a rollback to a release is possible: the release is complete, live servers support its version, its
 * migrations have run, and no later migration is incompatible with it. Changes nothing.
 * @param beginning prefix of its id; by default the previously active release
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS, WP_RELEASE_NO_PREVIOUS, WP_RELEASE_CORRUPT, WP_RELEASE_BREAKING,
 * WP_RELEASE_MIGRATIONS, WP_RELEASE_SERVERS_OLDER
 */
export async function surveyRollback(opened: Host, beginning: string | undefined): Promise<RollbackSurvey> {
  const { system } = opened
  const id = beginning === undefined ? await findPrevious(system) : await findRelease(system, beginning)
  const active = await loadActive(system)
  const manifest = await loadManifest(system, id)
  const survey = { id, manifest, active, lackingVariables: [], unknownMigrations: [], unreachable: [] }
  if (active?.id === id) return survey
  const artifacts = await loadArtifacts(system, { id }, manifest.artifacts)
  await assertServersKnow(system, survey)
  const used = [manifest, ...(active?.manifest === undefined ? [] : [active.manifest])].flatMap(variablesOfConnections)
  const host = await withSystemVariables(opened, used)
  const plugins = await loadReleasePlugins(host, { manifest, artifacts })
  const found = await findRollbackMigrations({ host, plugins }, { active, target: manifest })
  const { pending, breaking, unknown: unknownMigrations, unreachable } = found
  if (pending.length > 0) throw errors.WP_RELEASE_MIGRATIONS({ id: shortId(id), names: pending.join(', ') })
  if (breaking.length > 0) throw errors.WP_RELEASE_BREAKING({ id: shortId(id), names: breaking.join(', ') })
  const lackingVariables = await findMissingVariables(system, namesOfNeeded(manifest))
  return { ...survey, lackingVariables, unknownMigrations, unreachable }
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

async function assertServersKnow(system: System, { id, manifest }: Pick<RollbackSurvey, 'id' | 'manifest'>) {
  const { waypost: built } = manifest
  const older = (await listLiveServers(system)).filter(({ version }) => isNewer(built, version))
  if (older.length === 0) return
  const servers = older.map(({ name, version }) => `${name} (${version})`).join(', ')
  throw errors.WP_RELEASE_SERVERS_OLDER({ id: shortId(id), built, servers })
}

function namesOfNeeded({ variables }: Manifest): readonly string[] {
  return Object.entries(variables).flatMap(([name, { optional }]) => (optional ? [] : [name]))
}
