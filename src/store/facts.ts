import type { Transaction } from 'kysely'
import type { System } from './system.ts'
import type { SystemTables } from './tables.ts'

/** Facts about System. */
export interface SystemFacts {
  /** `development` if `dev` created it: the folder's own secret is used and loopback callbacks are allowed. */
  readonly origin?: string
  /** The issuer of every token, stored by the first command that signs or serves. */
  readonly issuer?: string
  /** Check value of `WAYPOST_SECRET`. */
  readonly secret_check?: string
  /** Check value of the secret that `secret:rotate` is changing to, while it does. */
  readonly secret_next?: string
  /** When `event:execute` last ran, by the database's clock: milliseconds since 1970. */
  readonly last_execute?: string
  /** When pruning last started, by the same clock. */
  readonly last_prune?: string
  /** The hash and the expiry of the code with which the first administrator is created, as JSON. */
  readonly first_run?: string
  /** Since when nothing is posted, by the database's clock. */
  readonly deliveries_held?: string
}

export async function loadFacts(system: System): Promise<SystemFacts> {
  const rows = await system.db.selectFrom('waypost_system').selectAll().execute()
  return Object.fromEntries(rows.map((row) => [row.name, row.value]))
}

/**
 * Stores a fact unless it exists. If several processes do so at once, the first one wins.
 * @returns the stored value
 */
export async function storeFact(system: System, name: keyof SystemFacts, value: string): Promise<string> {
  await system.db
    .insertInto('waypost_system')
    .values({ name, value })
    .onConflict((on) => on.doNothing())
    .execute()
  const row = await system.db
    .selectFrom('waypost_system')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return row.value
}

export async function replaceFact(system: Pick<System, 'db'>, name: keyof SystemFacts, value: string): Promise<void> {
  await system.db
    .insertInto('waypost_system')
    .values({ name, value })
    .onConflict((on) => on.column('name').doUpdateSet({ value }))
    .execute()
}

/** @returns whether the fact existed */
export async function removeFact({ db }: Pick<System, 'db'>, name: keyof SystemFacts): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('waypost_system').where('name', '=', name).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Returns a fact. Databases with row locks lock it until the transaction ends. */
export async function lockFact(
  { kind }: System,
  trx: Transaction<SystemTables>,
  name: keyof SystemFacts,
): Promise<string | undefined> {
  const row = await trx
    .selectFrom('waypost_system')
    .select('value')
    .where('name', '=', name)
    .$if(kind === 'postgresql', (query) => query.forUpdate())
    .executeTakeFirst()
  return row?.value
}

/**
 * Replaces a fact if it still has the value `from`.
 * @returns whether it was replaced
 */
export async function exchangeFact(
  { db }: Pick<System, 'db'>,
  name: keyof SystemFacts,
  { from, to }: { from: string | undefined; to: string },
): Promise<boolean> {
  if (from === undefined) {
    const insert = db.insertInto('waypost_system').values({ name, value: to })
    const { numInsertedOrUpdatedRows } = await insert.onConflict((on) => on.doNothing()).executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 1n
  }
  const update = db.updateTable('waypost_system').set({ value: to }).where('name', '=', name).where('value', '=', from)
  return (await update.executeTakeFirstOrThrow()).numUpdatedRows === 1n
}

/** Returns the database's time in milliseconds since 1970. */
export async function loadDatabaseTime(system: System): Promise<number> {
  const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
  return now
}
