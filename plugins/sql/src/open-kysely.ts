import { Kysely, sql, type Dialect } from 'kysely'
import type { OpenConnection } from 'waypost'

// oxlint-disable-next-line typescript/no-explicit-any -- the tables are the project's
type AnyTables = any

/** A database as a connection: a Kysely client whose values are those of System. */
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
    async close() {
      await client.destroy()
      await database.close()
    },
  }
}
