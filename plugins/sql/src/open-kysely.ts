import { sql, type Dialect, type OpenConnection } from 'waypost'
import { Kysely, runInSavepoint } from 'waypost/sql'

// oxlint-disable-next-line typescript/no-explicit-any -- the project defines the tables
type AnyTables = any

/** Returns a connection for a database: a Kysely client with the same JavaScript values as System. */
export function openKysely(database: {
  dialect(): Dialect
  close(): void | Promise<void>
}): OpenConnection<Kysely<AnyTables>> {
  const client = new Kysely<AnyTables>({ dialect: database.dialect() })
  return {
    client,
    async check() {
      await sql`select 1`.execute(client)
    },
    transaction: (work) => client.transaction().execute(work),
    savepoint: runInSavepoint,
    async close() {
      await client.destroy()
      await database.close()
    },
  }
}
