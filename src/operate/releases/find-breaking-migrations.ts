import { isWaypostError } from '../../kit/index.ts'
import {
  findMigration,
  loadArtifacts,
  type Artifact,
  type Manifest,
  type RollbackSurvey,
  registerArtifacts,
} from '../../release/index.ts'
import { planMigrations } from '../../store/index.ts'
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

interface RollbackTarget {
  readonly active: RollbackSurvey['active']
  readonly target: Manifest
}

/** The migrations that matter for a rollback. */
export interface RollbackMigrations {
  /** Migrations of the target release that have not run, as `Connection/name`. */
  readonly pending: readonly string[]
  /** Migrations that have run, that the target release lacks, and that are marked `breaking: true`. */
  readonly breaking: readonly string[]
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
  const breaking: string[] = []
  const unknown: string[] = []
  for (const one of since) {
    const isBreaking = await readBreakingMark(options.host, rollback.active, one)
    if (isBreaking === undefined) unknown.push(nameOfMigration(one))
    else if (isBreaking) breaking.push(nameOfMigration(one))
  }
  return { ...compared, breaking, unknown }
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
        const plan = await planMigrations(database?.db, own)
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

/** Whether a migration is marked `breaking: true`; undefined if its code is missing or does not load. */
async function readBreakingMark(
  host: Host,
  active: RollbackSurvey['active'],
  one: AppliedMigration,
): Promise<boolean | undefined> {
  const code = await findCode(host, active, one)
  if (code === undefined) return undefined
  registerArtifacts(code.artifacts)
  try {
    const file = fileOfMigration(one)
    return (await loadMigration(file, code.artifact, host.imports)).breaking === true
  } catch (error) {
    if (isWaypostError(error)) return undefined
    throw error
  }
}

/** Finds the code in the active release, which has nearly all migrations, or in another stored release. */
async function findCode(
  { system }: Host,
  active: RollbackSurvey['active'],
  wanted: AppliedMigration,
): Promise<{ artifact: string; artifacts: readonly Artifact[] } | undefined> {
  const isWanted = (one: AppliedMigration) =>
    one.connection === wanted.connection && one.name === wanted.name && one.checksum === wanted.checksum
  const own = active?.manifest?.migrations.find(isWanted)
  if (active?.manifest === undefined || own === undefined) return findMigration(system, wanted)
  const artifacts = await loadArtifacts(system, active, active.manifest.artifacts)
  return { artifact: own.artifact, artifacts }
}
