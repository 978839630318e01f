import { sql } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'

/** An access token as it stands in System when it is new. */
export type NewToken = Omit<SystemTables['waypost_token'], 'revoked_at' | 'used_at'>

/** Stores access tokens. What callers bring while one statement runs goes out together with the next, in one commit. */
export interface TokenWriter {
  /** Resolves when the token is stored. @throws what kept it from being stored, whatever became of the others */
  store(token: NewToken): Promise<void>
}

interface Waiting {
  readonly token: NewToken
  resolve(): void
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
        waiting.push({ token, resolve, reject })
        if (!isRunning) void run()
      }),
  }
}

/** A group that fails is stored one by one, so that nobody pays for another one's token. */
async function storeGroup(system: System, group: readonly Waiting[]): Promise<void> {
  try {
    await insertTokens(
      system,
      group.map(({ token }) => token),
    )
    for (const { resolve } of group) resolve()
  } catch (error) {
    if (group.length === 1) return group[0]!.reject(error)
    for (const one of group) await storeGroup(system, [one])
  }
}

/** One text for any number of rows, so that the database plans it once. */
async function insertTokens({ kind, db }: System, tokens: readonly NewToken[]): Promise<void> {
  const json = JSON.stringify(tokens)
  const rows =
    kind === 'postgresql'
      ? sql`select jti, user_id, client_id, family_id, scope, created_at, expires_at from json_to_recordset(${json}::json)
          as row (jti text, user_id text, client_id text, family_id text, scope text, created_at bigint, expires_at bigint)`
      : sql`select value ->> 'jti', value ->> 'user_id', value ->> 'client_id', value ->> 'family_id', value ->> 'scope',
          value ->> 'created_at', value ->> 'expires_at' from json_each(${json})`
  await sql`insert into waypost_token (jti, user_id, client_id, family_id, scope, created_at, expires_at) ${rows}`.execute(
    db,
  )
}
