import { sql } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'

/** The row of a new access token. */
export type NewToken = Omit<SystemTables['waypost_token'], 'revoked_at' | 'used_at'>

/** A token, and how its client authenticated: another server may have changed or disabled the client since. */
export interface TokenToStore {
  readonly token: NewToken
  /** The hash of the client's secret; undefined for public clients. */
  readonly secretHash: string | undefined
}

/** Stores access tokens. Tokens that arrive during a statement are combined in the next one, in one commit. */
export interface TokenWriter {
  /**
   * Stores a token if its user and its client are active and the client still has the secret.
   * @returns whether it was stored
   * @throws the error of this token, independent of others in its group
   */
  store(token: TokenToStore): Promise<boolean>
}

interface PendingWrite extends TokenToStore {
  resolve(isStored: boolean): void
  reject(error: unknown): void
}

/** Maximum number of tokens per statement; a longer statement would delay the next group. */
const maxGroupSize = 500

export function makeTokenWriter(system: System): TokenWriter {
  const pending: PendingWrite[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (pending.length > 0) await storeGroup(system, pending.splice(0, maxGroupSize))
    isRunning = false
  }

  return {
    store: (token) =>
      new Promise((resolve, reject) => {
        pending.push({ ...token, resolve, reject })
        if (!isRunning) void run()
      }),
  }
}

/** Stores a failed group again one by one, so that one token cannot fail the others. */
async function storeGroup(system: System, group: readonly PendingWrite[]): Promise<void> {
  try {
    const stored = await insertTokens(system, group)
    for (const { token, resolve } of group) resolve(stored.has(token.jti))
  } catch (error) {
    if (group.length === 1) return group[0]!.reject(error)
    for (const one of group) await storeGroup(system, [one])
  }
}

/**
 * Inserts tokens with the same statement text for any number of rows, so that the database plans it once. The rows of
 * users and clients are locked until the commit, so that disabling a client or replacing its secret, followed by
 * revoking its tokens, finds these.
 * @returns the ids of the stored tokens
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
 * Records when tokens and their families were last used. Rows that are locked by others are skipped: the next use is as
 * good, and nothing ever waits.
 * @param uses milliseconds since 1970 by token id
 */
export async function recordUses(system: System, uses: ReadonlyMap<string, number>): Promise<void> {
  const all = [...uses]
  for (let begin = 0; begin < all.length; begin += rowsPerStatement) {
    const json = JSON.stringify(Object.fromEntries(all.slice(begin, begin + rowsPerStatement)))
    await (system.kind === 'sqlite' ? writeToSqlite(system, json) : writeToPostgres(system, json))
  }
}

/** SQLite statements block this process while they run; this many take a few milliseconds. */
const rowsPerStatement = 1000

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

/** Two statements without a transaction, so that no row stays locked between them. */
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
