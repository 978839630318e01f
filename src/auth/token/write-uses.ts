import { sql } from 'kysely'
import type { System } from '../../store/index.ts'

/**
 * Writes when tokens were last used, and their families with them. Rows that somebody else is changing are left out: the
 * next use is as good, and nobody ever waits for this or because of it.
 * @param uses milliseconds since 1970 by the id of the token
 */
export async function writeUses(system: System, uses: ReadonlyMap<string, number>): Promise<void> {
  const all = [...uses]
  for (let begin = 0; begin < all.length; begin += atOnce) {
    const json = JSON.stringify(Object.fromEntries(all.slice(begin, begin + atOnce)))
    await (system.kind === 'sqlite' ? writeToSqlite(system, json) : writeToPostgres(system, json))
  }
}

/** SQLite's statements stop this process for as long as they run: a few milliseconds for so many. */
const atOnce = 1000

async function writeToSqlite(system: System, json: string): Promise<void> {
  await system.transaction(async (trx) => {
    await sql`update waypost_token set used_at = use.value from json_each(${json}) as use
      where waypost_token.jti = use.key and coalesce(waypost_token.used_at, 0) < use.value`.execute(trx)
    await sql`update waypost_token_family set used_at = use.at from (
        select token.family_id, max(one.value) as at from json_each(${json}) as one
        join waypost_token token on token.jti = one.key group by token.family_id) as use
      where waypost_token_family.id = use.family_id and coalesce(waypost_token_family.used_at, 0) < use.at`.execute(trx)
  })
}

/** Two statements and no transaction: no row stays locked from the first to the second. */
async function writeToPostgres({ db }: System, json: string): Promise<void> {
  await sql`with use as (
      select token.jti, one.value::bigint as at from jsonb_each_text(${json}::jsonb) as one
      join waypost_token token on token.jti = one.key
      where coalesce(token.used_at, 0) < one.value::bigint
      for no key update of token skip locked)
    update waypost_token set used_at = use.at from use where waypost_token.jti = use.jti`.execute(db)
  await sql`with use as (
      select token.family_id, max(one.value::bigint) as at from jsonb_each_text(${json}::jsonb) as one
      join waypost_token token on token.jti = one.key group by token.family_id),
    free as (
      select family.id, use.at from waypost_token_family family join use on use.family_id = family.id
      where coalesce(family.used_at, 0) < use.at
      for no key update of family skip locked)
    update waypost_token_family set used_at = free.at from free where waypost_token_family.id = free.id`.execute(db)
}
