import { sql, type Kysely } from 'kysely'

const name = sql.id('waypost_call')

/**
 * Runs work in a savepoint of a transaction. If it fails, only what it did is rolled back.
 * @param transaction on SQLite or PostgreSQL
 */
export async function runInSavepoint<Value>(
  // oxlint-disable-next-line typescript/no-explicit-any -- any tables
  transaction: Kysely<any>,
  work: () => Promise<Value>,
): Promise<Value> {
  await sql`savepoint ${name}`.execute(transaction)
  let value: Value
  try {
    value = await work()
  } catch (error) {
    await sql`rollback to savepoint ${name}`.execute(transaction)
    await sql`release savepoint ${name}`.execute(transaction)
    throw error
  }
  await sql`release savepoint ${name}`.execute(transaction)
  return value
}
