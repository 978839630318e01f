import {
  findIntact,
  findPrevious,
  findRelease,
  loadActiveRow,
  loadArtifacts,
  loadManifest,
  outlineRelease,
  parseManifest,
} from '../../release/index.ts'
import { loadReleasePlugins, variablesOfConnections, withSystemVariables, type Host } from '../../host/index.ts'
import { findRollbackMigrations } from './find-breaking-migrations.ts'
import type { RollbackSurvey } from './gate/facts.ts'
import { findRollbacks } from './gate/find-rollbacks.ts'
import { surveyOutline } from './gate/survey-release.ts'

/**
 * Returns what is known about a rollback to a release: what it changes, and what `judgeRelease` needs to decide whether
 * it is possible. Changes nothing.
 * @param beginning prefix of its id; by default the previously active release
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS, WP_RELEASE_NO_PREVIOUS, WP_RELEASE_CORRUPT
 */
export async function surveyRollback(opened: Host, beginning: string | undefined): Promise<RollbackSurvey> {
  const { system } = opened
  const id = beginning === undefined ? await findPrevious(system) : await findRelease(system, beginning)
  const row = await loadActiveRow(system)
  const text = row && findIntact(row)
  const before = text === undefined ? undefined : parseManifest(text)
  const active = row && { id: row.id, manifest: before }
  const manifest = await loadManifest(system, id)
  const isActive = active?.id === id
  const used = [manifest, ...(before === undefined ? [] : [before])].flatMap(variablesOfConnections)
  const host = isActive ? opened : await withSystemVariables(opened, used)
  const facts = await surveyOutline({ host, active, release: outlineRelease(id, manifest, before) })
  const artifacts = isActive ? [] : await loadArtifacts(system, { id }, manifest.artifacts)
  const survey = {
    ...facts,
    pendingMigrations: [],
    droppedMigrations: [],
    failingActions: [],
    rollback: { incompatibleMigrations: [] },
    rollbacks: await findRollbacks(system, []),
    unknownMigrations: [],
    unreachable: [],
  }
  // The code of the release may need a newer version of Waypost than this one.
  if (isActive || facts.olderServers.length > 0) return survey
  const plugins = await loadReleasePlugins(host, { manifest, artifacts })
  const { pending, incompatible, unknown, unreachable } = await findRollbackMigrations(
    { host, plugins },
    { active, target: manifest },
  )
  const rollback = { incompatibleMigrations: incompatible }
  return { ...survey, pendingMigrations: pending, rollback, unknownMigrations: unknown, unreachable }
}
