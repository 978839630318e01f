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
