import type { System } from '../../store/index.ts'

/** What System says of an access token, its user and its client. */
export interface StoredToken {
  readonly user: { readonly id: string; readonly name: string; readonly status: 'active' | 'disabled' }
  readonly client: { readonly id: string; readonly status: 'active' | 'disabled' }
  readonly familyId: string | null
  readonly scope: string
  readonly expiresAt: number
  readonly revokedAt: number | null
  /** Scopes that the user has and the client may use. */
  readonly heldScopes: readonly string[]
}

/** Reads tokens for the guard. Callers that come while statements run share the next one. */
export interface TokenReader {
  /**
   * Reads a token as it is after the call. @returns undefined for an id that System does not know
   * @throws what the database says, and when too many tokens wait to be read
   */
  read(jti: string): Promise<StoredToken | undefined>
}

interface Waiting extends PromiseWithResolvers<StoredToken | undefined> {
  readonly jti: string
}

/** As many as the guard has connections. */
const statementsAtOnce = 2
/** Tokens of one statement at most. */
const groupLimit = 500
/** While the database does not answer, callers come faster than statements give up. */
const waitingLimit = 10_000

/**
 * Makes a reader. A server that has lost its cache reads thousands of tokens at once: one statement each over a few
 * connections would take as long as the database's latency allows, which may be longer than callers wait.
 */
export function makeTokenReader(system: System): TokenReader {
  const waiting: Waiting[] = []
  let running = 0

  async function run(): Promise<void> {
    running += 1
    while (waiting.length > 0) await readGroup(system, waiting.splice(0, groupLimit))
    running -= 1
  }

  return {
    async read(jti) {
      if (waiting.length >= waitingLimit) throw new Error(`${waitingLimit} tokens are waiting to be read`)
      const one = { jti, ...Promise.withResolvers<StoredToken | undefined>() }
      waiting.push(one)
      if (running < statementsAtOnce) void run()
      return one.promise
    },
  }
}

async function readGroup(system: System, group: readonly Waiting[]): Promise<void> {
  try {
    const tokens = await selectTokens(system, [...new Set(group.map(({ jti }) => jti))])
    for (const { jti, resolve } of group) resolve(tokens.get(jti))
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
}

async function selectTokens(system: System, jtis: readonly string[]): Promise<ReadonlyMap<string, StoredToken>> {
  const rows = await system.guardDb
    .selectFrom('waypost_token as token')
    .innerJoin('waypost_user as user', 'user.id', 'token.user_id')
    .innerJoin('waypost_client as client', 'client.id', 'token.client_id')
    .leftJoin('waypost_user_scope as granted', (join) =>
      join.onRef('granted.user_id', '=', 'token.user_id').on(({ eb, or, exists, selectFrom, ref }) =>
        or([
          eb('client.user_id', 'is', null), // those that are built in pass on what the user has
          exists(
            selectFrom('waypost_client_scope as given')
              .select('given.scope')
              .where('given.client_id', '=', ref('token.client_id'))
              .where('given.scope', '=', ref('granted.scope')),
          ),
        ]),
      ),
    )
    .select(['token.jti', 'token.user_id', 'token.client_id', 'token.family_id'])
    .select(['token.scope', 'token.expires_at', 'token.revoked_at'])
    .select(['user.name as user_name', 'user.status as user_status'])
    .select(['client.status as client_status', 'granted.scope as granted'])
    .where('token.jti', 'in', jtis)
    .execute()
  const tokens = new Map<string, StoredToken>()
  for (const [jti, [row, ...others]] of Map.groupBy(rows, (one) => one.jti)) {
    if (row === undefined) continue
    tokens.set(jti, {
      user: { id: row.user_id, name: row.user_name, status: row.user_status },
      client: { id: row.client_id, status: row.client_status },
      familyId: row.family_id,
      scope: row.scope,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      heldScopes: [row, ...others].flatMap(({ granted }) => granted ?? []),
    })
  }
  return tokens
}
