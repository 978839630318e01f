import { isWaypostError } from '../../kit/index.ts'
import { loadPlugins } from '../../plugin/index.ts'
import {
  compareManifests,
  findLackingVariables,
  findPrevious,
  findRelease,
  isNewer,
  listLiveServers,
  loadActiveId,
  loadActiveRelease,
  loadArtifacts,
  loadManifest,
  releaseErrors as errors,
  rollBack,
  shortId,
  type ActivateOptions,
  type Activation,
  type LackingVariable,
  type Manifest,
  type ReleaseChange,
  type StoredRelease,
} from '../../release/index.ts'
import type { System } from '../../store/index.ts'
import type { Host } from '../host.ts'
import { nameOfMigration, surveyMigrations } from '../migrations/survey-migrations.ts'
import { findMigrationsBehind } from './find-breaking-migrations.ts'

/** The active release; what is damaged of it does not keep anybody from going back. */
export interface RunningRelease {
  readonly id: string
  /** Undefined where it is damaged. */
  readonly release: StoredRelease | undefined
}

/** What going back to a release would change. */
export interface RollbackPlan {
  readonly id: string
  readonly active: RunningRelease | undefined
  readonly changes: readonly ReleaseChange[]
  /** Variables that the release needs and living servers lack. */
  readonly lackingVariables: readonly LackingVariable[]
  /** Migrations that ran since and whose code is gone: whether they are breaking cannot be told. */
  readonly unknownMigrations: readonly string[]
}

/**
 * Checks whether a release can be gone back to: that it is whole, that living servers know its version, that its
 * migrations ran, and that none ran since which it cannot work with. Changes nothing.
 * @param beginning of its id; without it the release that was active before
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS, WP_RELEASE_NO_PREVIOUS, WP_RELEASE_CORRUPT, WP_RELEASE_BREAKING,
 * WP_RELEASE_MIGRATIONS, WP_RELEASE_SERVERS_OLDER
 */
export async function planRollback(host: Host, beginning: string | undefined): Promise<RollbackPlan> {
  const { system } = host
  const id = beginning === undefined ? await findPrevious(system) : await findRelease(system, beginning)
  const active = await loadActive(system)
  const target = await loadManifest(system, id)
  const nothing = { id, active, changes: [], lackingVariables: [], unknownMigrations: [] }
  if (active?.id === id) return nothing
  await loadArtifacts(system, { id }, Object.keys(target.artifacts))
  await assertServersKnow(system, id, target)
  const plugins = await loadPlugins(host.folder)
  const { pending } = await surveyMigrations({ host, plugins, release: { manifest: target } })
  const names = pending.map(nameOfMigration).join(', ')
  if (pending.length > 0) throw errors.WP_RELEASE_MIGRATIONS({ id: shortId(id), names })
  const { breaking, unknown } = await findMigrationsBehind({ host, plugins }, { active: active?.release, target })
  if (breaking.length > 0) throw errors.WP_RELEASE_BREAKING({ id: shortId(id), names: breaking.join(', ') })
  return {
    ...nothing,
    changes: compareManifests(active?.release?.manifest, target),
    lackingVariables: await findLackingVariables(system, namesOfNeeded(target)),
    unknownMigrations: unknown,
  }
}

/** Makes the release of a plan the active one. @throws WP_RELEASE_SUPERSEDED when another one is active than was then */
export function rollBackHost({ system }: Host, plan: RollbackPlan, options: ActivateOptions): Promise<Activation> {
  return rollBack(system, plan.id, { ...options, against: options.against ?? plan.active?.id ?? 'none' })
}

async function loadActive(system: System): Promise<RunningRelease | undefined> {
  const id = await loadActiveId(system)
  if (id === undefined) return undefined
  try {
    return { id, release: await loadActiveRelease(system) }
  } catch (error) {
    if (isWaypostError(error) && error.code === 'WP_RELEASE_CORRUPT') return { id, release: undefined }
    throw error
  }
}

async function assertServersKnow(system: System, id: string, { waypost: built }: Manifest): Promise<void> {
  const older = (await listLiveServers(system)).filter(({ version }) => isNewer(built, version))
  if (older.length === 0) return
  const servers = older.map(({ name, version }) => `${name} (${version})`).join(', ')
  throw errors.WP_RELEASE_SERVERS_OLDER({ id: shortId(id), built, servers })
}

function namesOfNeeded({ variables }: Manifest): readonly string[] {
  return Object.entries(variables).flatMap(([name, { optional }]) => (optional ? [] : [name]))
}
