import { isWaypostError } from '../../kit/index.ts'
import { findMigration, loadArtifacts, type Artifact, type Manifest, registerArtifacts } from '../../release/index.ts'
import { planMigrations } from '../../store/index.ts'
import { describeBreaking } from '../../tables/index.ts'
import type { IncompatibleMigration } from './gate/facts.ts'
import {
  loadMigration,
  inspectDatabases,
  type MigrationDatabases,
  fileOfMigration,
  nameOfMigration,
  type Host,
} from '../../host/index.ts'

interface AppliedMigration {
  readonly connection: string
  readonly name: string
  readonly checksum: string
}

type ActiveManifest = { readonly id: string; readonly manifest: Manifest | undefined } | undefined

interface RollbackTarget {
  readonly active: ActiveManifest
  readonly target: Manifest
}

/** The migrations that matter for a rollback. */
export interface RollbackMigrations {
  /** Migrations of the target release that have not run, as `Connection/name`. */
  readonly pending: readonly string[]
  /** Migrations that have run, that the target release lacks, and that break code which was written before them. */
  readonly incompatible: readonly IncompatibleMigration[]
  /** Such migrations whose code is in no stored release, so that their mark is unknown. */
  readonly unknown: readonly string[]
  /** Connections that cannot be opened. All their migrations of the active release are assumed to have run. */
  readonly unreachable: readonly string[]
}

/** Compares the migrations of a release with those that have run. Runs no migrations. */
export async function findRollbackMigrations(
  options: Pick<MigrationDatabases, 'plugins'> & { readonly host: Host },
  rollback: RollbackTarget,
): Promise<RollbackMigrations> {
  const { since, ...compared } = await compareConnections(options, rollback)
  const incompatible: IncompatibleMigration[] = []
  const unknown: string[] = []
  for (const one of since) {
    const mark = await readBreakingMark(options.host, rollback.active, one)
    if (mark === undefined) unknown.push(nameOfMigration(one))
    else if (mark.isBreaking) incompatible.push({ name: nameOfMigration(one), steps: mark.steps })
  }
  return { ...compared, incompatible, unknown }
}

/** Checks each connection separately, because a failing connection may be the reason for the rollback. */
async function compareConnections(
  { host, plugins }: Pick<MigrationDatabases, 'plugins'> & { readonly host: Host },
  going: RollbackTarget,
) {
  const { active, target } = going
  const known = [...(active?.manifest?.migrations ?? []), ...target.migrations]
  const manifest = { connections: { ...active?.manifest?.connections, ...target.connections } }
  const found = { pending: [] as string[], since: [] as AppliedMigration[], unreachable: [] as string[] }
  for (const connection of new Set(['System', ...known.map((one) => one.connection)])) {
    const own = target.migrations.filter((one) => one.connection === connection)
    try {
      await inspectDatabases({ host, plugins, release: { manifest } }, [connection], async (_name, database) => {
        const plan = await planMigrations(database, own)
        const unknown = plan.applied.filter((row) => plan.unknown.includes(row.name))
        found.pending.push(...plan.pending.map(nameOfMigration))
        found.since.push(...unknown.map(({ name, checksum }) => ({ connection, name, checksum })))
      })
    } catch (error) {
      if (connection === 'System') throw error
      const names = new Set(own.map(({ name }) => name))
      found.unreachable.push(connection)
      found.since.push(...known.filter((one) => one.connection === connection && !names.has(one.name)))
    }
  }
  return found
}

interface BreakingMark {
  readonly isBreaking: boolean
  /** The steps that break, of a migration in YAML; a migration in code is marked `breaking: true`. */
  readonly steps: readonly string[]
}

/** Returns whether a migration breaks earlier code; undefined if its code is missing or does not load. */
async function readBreakingMark(
  host: Host,
  active: ActiveManifest,
  one: AppliedMigration,
): Promise<BreakingMark | undefined> {
  const code = await findCode(host, active, one)
  if (code === undefined) return undefined
  registerArtifacts(code.artifacts)
  try {
    const file = fileOfMigration(one)
    const { breaking = false, steps = [] } = await loadMigration(file, code.artifact, host.imports)
    return { isBreaking: breaking, steps: describeBreaking(steps) }
  } catch (error) {
    if (isWaypostError(error)) return undefined
    throw error
  }
}

/** Finds the code in the active release, which has nearly all migrations, or in another stored release. */
async function findCode(
  { system }: Host,
  active: ActiveManifest,
  wanted: AppliedMigration,
): Promise<{ artifact: string; artifacts: readonly Artifact[] } | undefined> {
  const isWanted = (one: AppliedMigration) =>
    one.connection === wanted.connection && one.name === wanted.name && one.checksum === wanted.checksum
  const own = active?.manifest?.migrations.find(isWanted)
  if (active?.manifest === undefined || own === undefined) return findMigration(system, wanted)
  const artifacts = await loadArtifacts(system, active, active.manifest.artifacts)
  return { artifact: own.artifact, artifacts }
}
