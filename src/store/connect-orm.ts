import type { MikroORM as PostgresOrm } from '@mikro-orm/postgresql'
import type { MikroORM as SqlOrm } from '@mikro-orm/sql'
import type { System } from './system.ts'

/**
 * Opens MikroORM on its own Kysely instance, which shares System's handles or pool. Closing it leaves those open.
 * MikroORM wraps Waypost's errors: the code is preserved, the class name is not.
 * @param options what this use needs, at least the entities: discovering all of them takes as long as loading MikroORM
 */
export async function connectOrm(
  { database }: System,
  options: Readonly<Record<string, unknown>> & { readonly entities: readonly object[] },
): Promise<SqlOrm | PostgresOrm> {
  const all = {
    // MikroORM would look for a database of this name and create it.
    dbName: database.kind === 'sqlite' ? database.file : database.target.database,
    driverOptions: database.dialect(),
    ensureDatabase: false,
    implicitTransactions: false,
    ...options,
  }
  // Only the driver that is used is loaded.
  if (database.kind === 'postgresql') {
    const { MikroORM } = await import('@mikro-orm/postgresql')
    return new MikroORM(all as never)
  }
  const { MikroORM, SqliteDriver } = await import('@mikro-orm/sql')
  return new MikroORM({ ...all, driver: SqliteDriver } as never)
}
