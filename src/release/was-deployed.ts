import type { Kysely } from 'kysely'
import { existingTables, type ConnectionDatabase, type SystemTables } from '../store/index.ts'

/**
 * Whether a database is a System that serves or has served a deployment: a server claimed it, or a release was deployed,
 * published or rolled back there. The activations of `dev` and of tests do not count.
 */
export async function wasDeployed(database: ConnectionDatabase): Promise<boolean> {
  const tables = ['waypost_system', 'waypost_activation', 'waypost_audit']
  if ((await existingTables(database, tables)).length < tables.length) return false
  const db = database.db as Kysely<SystemTables>
  const found = await Promise.all([
    db
      .selectFrom('waypost_system')
      .select('name')
      .where('name', '=', 'origin')
      .where('value', '!=', 'development')
      .executeTakeFirst(),
    db
      .selectFrom('waypost_activation')
      .select('number')
      .where((row) =>
        row.or([
          row('kind', '!=', 'deploy'),
          row('user_id', 'is not', null),
          row('activated_by', 'not in', ['dev', 'test']),
        ]),
      )
      .limit(1)
      .executeTakeFirst(),
    // Old activations are deleted; the audit log keeps more.
    db
      .selectFrom('waypost_audit')
      .select('id')
      .where('action', 'in', ['release.activate', 'release.rollback'])
      .limit(1)
      .executeTakeFirst(),
  ])
  return found.some((row) => row !== undefined)
}
