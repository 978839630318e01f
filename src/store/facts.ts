import type { System } from './system.ts'

/** What System knows of itself. */
export interface SystemFacts {
  /** `development` when `dev` made it: the folder's own secret counts and loopback callbacks are allowed. */
  readonly origin?: string
  /** The issuer of every token, stored by the first command that signs or serves. */
  readonly issuer?: string
  /** Check value of `WAYPOST_SECRET`. */
  readonly secret_check?: string
  /** When `event:execute` was last seen at work, by the database's clock: milliseconds since 1970. */
  readonly last_execute?: string
}

export async function loadFacts(system: System): Promise<SystemFacts> {
  const rows = await system.db.selectFrom('waypost_system').selectAll().execute()
  return Object.fromEntries(rows.map((row) => [row.name, row.value]))
}

/** Stores a fact unless it is known already; of several at once the first wins. @returns what holds afterwards */
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

export async function replaceFact(system: System, name: keyof SystemFacts, value: string): Promise<void> {
  await system.db
    .insertInto('waypost_system')
    .values({ name, value })
    .onConflict((on) => on.column('name').doUpdateSet({ value }))
    .execute()
}
