import { sql } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'

/** An access token as it stands in System when it is new. */
export type NewToken = Omit<SystemTables['waypost_token'], 'revoked_at' | 'used_at'>

/** A token, and how its client proved who it is: another server may have changed or disabled the client meanwhile. */
export interface TokenToStore {
  readonly token: NewToken
  /** The hash of the secret that the client knew; undefined where it needed none. */
  readonly secretHash: string | undefined
}

/** Stores access tokens. What callers bring while one statement runs goes out together with the next, in one commit. */
export interface TokenWriter {
  /**
   * Stores a token if its user and its client are active and the secret is the client's still.
   * @returns whether it is stored
   * @throws what kept it from being stored, whatever became of the others
   */
  store(token: TokenToStore): Promise<boolean>
}

interface Waiting extends TokenToStore {
  resolve(isStored: boolean): void
  reject(error: unknown): void
}

/** Tokens of one statement at most; a longer one would keep those behind it waiting. */
const groupLimit = 500

export function makeTokenWriter(system: System): TokenWriter {
  const waiting: Waiting[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) await storeGroup(system, waiting.splice(0, groupLimit))
    isRunning = false
  }

  return {
    store: (token) =>
      new Promise((resolve, reject) => {
        waiting.push({ ...token, resolve, reject })
        if (!isRunning) void run()
      }),
  }
}

/** A group that fails is stored one by one, so that nobody pays for another one's token. */
async function storeGroup(system: System, group: readonly Waiting[]): Promise<void> {
  try {
    const stored = await insertTokens(system, group)
    for (const { token, resolve } of group) resolve(stored.has(token.jti))
  } catch (error) {
    if (group.length === 1) return group[0]!.reject(error)
    for (const one of group) await storeGroup(system, [one])
  }
}

/**
 * One text for any number of rows, so that the database plans it once. The rows of users and clients are held to the
 * commit: whoever disables one, or takes its secret away, and then revokes its tokens finds these.
 * @returns the ids of those that are stored
 */
async function insertTokens({ kind, db }: System, group: readonly TokenToStore[]): Promise<ReadonlySet<string>> {
  const json = JSON.stringify(group.map(({ token, secretHash }) => ({ ...token, secret_hash: secretHash })))
  const rows =
    kind === 'postgresql'
      ? sql`select one.jti, one.user_id, one.client_id, one.family_id, one.scope, one.created_at, one.expires_at
          from json_to_recordset(${json}::json) as one (jti text, user_id text, client_id text, family_id text,
            scope text, created_at bigint, expires_at bigint, secret_hash text)
          join waypost_user u on u.id = one.user_id and u.status = 'active'
          join waypost_client c on c.id = one.client_id and c.status = 'active'
            and (one.secret_hash is null or c.secret_hash = one.secret_hash)
          for share of u, c`
      : sql`select value ->> 'jti', value ->> 'user_id', value ->> 'client_id', value ->> 'family_id', value ->> 'scope',
          value ->> 'created_at', value ->> 'expires_at' from json_each(${json})
          join waypost_user u on u.id = value ->> 'user_id' and u.status = 'active'
          join waypost_client c on c.id = value ->> 'client_id' and c.status = 'active'
            and (value ->> 'secret_hash' is null or c.secret_hash = value ->> 'secret_hash')`
  const { rows: stored } = await sql<{ jti: string }>`insert into waypost_token
    (jti, user_id, client_id, family_id, scope, created_at, expires_at) ${rows} returning jti`.execute(db)
  return new Set(stored.map(({ jti }) => jti))
}

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
