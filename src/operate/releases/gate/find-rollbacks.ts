import { listReleases, type ManifestMigration } from '../../../release/index.ts'
import type { System } from '../../../store/index.ts'
import { nameOfMigration } from '../../../host/index.ts'

/** Which of the last releases a rollback could return to after the activation of another one. */
export interface Rollbacks {
  /** Their ids, the last activated first. Something else can still prevent a rollback to them. */
  readonly reachable: readonly string[]
  /** Those to which no rollback is possible any more. */
  readonly lost: readonly string[]
  /** The migrations that are the reason, as `Connection/name`. */
  readonly migrations: readonly string[]
}

const maxReleases = 20

/**
 * Returns what the pending migrations of a release mean for rollbacks. Runs no code, so migrations in code do not count:
 * whether they are marked `breaking: true` is known when they have run.
 */
export async function findRollbacks(system: System, pending: readonly ManifestMigration[]): Promise<Rollbacks> {
  const breaking = pending.filter(({ declared }) => (declared?.breaking ?? []).length > 0)
  const ids = (await listReleases(system, maxReleases)).map(({ id }) => id)
  if (breaking.length === 0) return { reachable: ids, lost: [], migrations: [] }
  const having = system.db.selectFrom('waypost_release').select('id').where('id', 'in', ids)
  const rows = await breaking
    .reduce((query, { checksum }) => query.where('manifest', 'like', `%"${checksum}"%`), having)
    .execute()
  const reachable = new Set(rows.map(({ id }) => id))
  return {
    reachable: ids.filter((id) => reachable.has(id)),
    lost: ids.filter((id) => !reachable.has(id)),
    migrations: breaking.map(nameOfMigration),
  }
}
