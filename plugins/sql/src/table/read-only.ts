import { sql, type DatabaseKind, type Kysely } from 'waypost'
import { isReadOnlyError } from './run.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- no table is used
type Client = Kysely<any>

/** Returns why nothing can be changed through a connection that only reads; undefined if it takes changes. */
export async function findReadOnly(client: Client, kind: DatabaseKind): Promise<string | undefined> {
  if (client.isTransaction) return undefined
  if (kind === 'sqlite') return findReadOnlyFile(client)
  const { rows } = await sql<{ value: string; is_standby: boolean; role: string }>`
    select current_setting('transaction_read_only') as value, pg_is_in_recovery() as is_standby, current_user as role`.execute(
    client,
  )
  const { value, is_standby: isStandby, role } = rows[0]!
  if (value !== 'on') return undefined
  const reason = isStandby ? 'it connects to a standby' : `default_transaction_read_only is on for the role "${role}"`
  return `Nothing can be changed through this connection: ${reason}`
}

/** A write transaction of SQLite begins with its first change. */
async function findReadOnlyFile(client: Client): Promise<string | undefined> {
  const transaction = await client.startTransaction().execute()
  try {
    await sql`create table waypost_probe (id integer)`.execute(transaction)
    return undefined
  } catch (error) {
    if (!isReadOnlyError(error)) throw error
    return 'Nothing can be changed through this connection: the file is read-only'
  } finally {
    await transaction.rollback().execute()
  }
}
