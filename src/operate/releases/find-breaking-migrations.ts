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

interface Applied {
  readonly connection: string
  readonly name: string
  readonly checksum: string
}

interface Going {
  readonly active: RollbackSurvey['active']
  readonly target: Manifest
}

/** What a release, to which somebody wants to go back, and the databases make of one another. */
export interface MigrationsBehind {
  /** Those of the release that have not run, as `Connection/name`. */
  readonly pending: readonly string[]
  /** Those that ran, that the release does not have, and that are marked `breaking: true`. */
  readonly breaking: readonly string[]
  /** Those of which no release that is stored has the code: nobody can tell how they are marked. */
  readonly unknown: readonly string[]
  /** Connections that cannot be opened: all that the active release has of them counts as having run. */
  readonly unreachable: readonly string[]
}

/** Compares the migrations of a release with what ran. Runs none of them. */
export async function findMigrationsBehind(
  options: Pick<MigrationDatabases, 'plugins'> & { readonly host: Host },
  going: Going,
): Promise<MigrationsBehind> {
  const { since, ...looked } = await lookAtEach(options, going)
  const breaking: string[] = []
  const unknown: string[] = []
  for (const one of since) {
    const isBreaking = await readMark(options.host, going.active, one)
    if (isBreaking === undefined) unknown.push(nameOfMigration(one))
    else if (isBreaking) breaking.push(nameOfMigration(one))
  }
  return { ...looked, breaking, unknown }
}

/** Each connection by itself: whoever goes back may do so because one of them is down. */
async function lookAtEach(
  { host, plugins }: Pick<MigrationDatabases, 'plugins'> & { readonly host: Host },
  going: Going,
) {
  const { active, target } = going
  const known = [...(active?.manifest?.migrations ?? []), ...target.migrations]
  const manifest = { connections: { ...active?.manifest?.connections, ...target.connections } }
  const found = { pending: [] as string[], since: [] as Applied[], unreachable: [] as string[] }
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

/** Whether it is marked `breaking: true`; undefined where its code is gone or does not load. */
async function readMark(host: Host, active: RollbackSurvey['active'], one: Applied): Promise<boolean | undefined> {
  const code = await findCode(host, active, one)
  if (code === undefined) return undefined
  registerArtifacts(code.artifacts)
  try {
    const file = fileOfMigration(one.connection, one.name)
    return (await loadMigration(file, code.artifact, host.imports)).breaking === true
  } catch (error) {
    if (isWaypostError(error)) return undefined
    throw error
  }
}

/** The active release has nearly all of them; what it left out another one that is stored may have. */
async function findCode(
  { system }: Host,
  active: RollbackSurvey['active'],
  wanted: Applied,
): Promise<{ artifact: string; artifacts: readonly Artifact[] } | undefined> {
  const isWanted = (one: Applied) =>
    one.connection === wanted.connection && one.name === wanted.name && one.checksum === wanted.checksum
  const own = active?.manifest?.migrations.find(isWanted)
  if (active?.manifest === undefined || own === undefined) return findMigration(system, wanted)
  const artifacts = await loadArtifacts(system, active, active.manifest.artifacts)
  return { artifact: own.artifact, artifacts }
}
