import { findMigration, loadArtifacts, type Artifact, type Manifest, type RollbackSurvey } from '../../release/index.ts'
import { registerArtifacts } from '../../runtime/index.ts'
import { planMigrations } from '../../store/index.ts'
import { loadMigration } from '../migrations/load-migration-modules.ts'
import { lookAtDatabases, type MigrationDatabases } from '../migrations/migration-databases.ts'
import { fileOfMigration, nameOfMigration } from '../migrations/survey-migrations.ts'
import type { Host } from '../host.ts'

interface Applied {
  readonly connection: string
  readonly name: string
  readonly checksum: string
}

/** What ran on the databases and a release does not know. */
export interface MigrationsBehind {
  /** Those that are marked `breaking: true`, as `Connection/name`. */
  readonly breaking: readonly string[]
  /** Those of which no release that is stored has the code: nobody can tell. */
  readonly unknown: readonly string[]
}

/** Which migrations ran that a release, to which somebody wants to go back, does not have. Runs none of them. */
export async function findMigrationsBehind(
  options: { readonly host: Host; readonly plugins: MigrationDatabases['plugins'] },
  { active, target }: { readonly active: RollbackSurvey['active']; readonly target: Manifest },
): Promise<MigrationsBehind> {
  const applied = await findAppliedSince(options, { active, target })
  if (applied.length === 0) return { breaking: [], unknown: [] }
  const breaking: string[] = []
  const unknown: string[] = []
  for (const one of applied) {
    const code = await findCode(options.host, active, one)
    if (code === undefined) {
      unknown.push(nameOfMigration(one))
      continue
    }
    registerArtifacts(code.artifacts)
    const file = fileOfMigration(one.connection, one.name)
    const migration = await loadMigration(file, code.artifact, options.host.imports)
    if (migration.breaking === true) breaking.push(nameOfMigration(one))
  }
  return { breaking, unknown }
}

async function findAppliedSince(
  { host, plugins }: { readonly host: Host; readonly plugins: MigrationDatabases['plugins'] },
  { active, target }: { readonly active: RollbackSurvey['active']; readonly target: Manifest },
): Promise<readonly Applied[]> {
  const known = [...(active?.manifest?.migrations ?? []), ...target.migrations]
  const connections = { ...target.connections, ...active?.manifest?.connections }
  const names = new Set(['System', ...known.map(({ connection }) => connection)])
  const found: Applied[] = []
  await lookAtDatabases(
    { host, plugins, release: { manifest: { connections } } },
    [...names],
    async (name, database) => {
      const own = target.migrations.filter(({ connection }) => connection === name)
      const plan = await planMigrations(database?.db, own)
      const unknown = plan.applied.filter((row) => plan.unknown.includes(row.name))
      found.push(...unknown.map((row) => ({ connection: name, name: row.name, checksum: row.checksum })))
    },
  )
  return found
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
  const artifacts = await loadArtifacts(system, active, Object.keys(active.manifest.artifacts))
  return { artifact: own.artifact, artifacts }
}
