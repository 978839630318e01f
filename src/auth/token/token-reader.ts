import type { System } from '../../store/index.ts'

/** An access token, its user and its client as stored in System. */
export interface StoredToken {
  readonly user: { readonly id: string; readonly name: string; readonly status: 'active' | 'disabled' }
  readonly client: { readonly id: string; readonly status: 'active' | 'disabled' }
  readonly familyId: string | null
  readonly scope: string
  readonly expiresAt: number
  readonly revokedAt: number | null
  /** The scopes that the user has and the client may use. */
  readonly heldScopes: readonly string[]
}

/** Reads tokens for the guard. Calls during a statement are combined in the next one. */
export interface TokenReader {
  /**
   * Reads the state of a token after the call.
   * @returns undefined for unknown ids
   * @throws database errors, and an error if too many reads are waiting
   */
  read(jti: string): Promise<StoredToken | undefined>
}

interface PendingRead extends PromiseWithResolvers<StoredToken | undefined> {
  readonly jti: string
}

/** The guard has this many connections. */
const maxConcurrentStatements = 2
/** Maximum number of tokens per statement. */
const maxGroupSize = 500
/** Limits waiting reads while the database does not respond. */
const maxPending = 10_000

/**
 * Makes a reader. A server with an empty cache reads thousands of tokens at once. With one statement each, the latency
 * of the database could add up to more than callers wait.
 */
export function makeTokenReader(system: System): TokenReader {
  const pending: PendingRead[] = []
  let running = 0

  async function run(): Promise<void> {
    running += 1
    while (pending.length > 0) await readGroup(system, pending.splice(0, maxGroupSize))
    running -= 1
  }

  return {
    async read(jti) {
      if (pending.length >= maxPending) throw new Error(`${maxPending} tokens are waiting to be read`)
      const one = { jti, ...Promise.withResolvers<StoredToken | undefined>() }
      pending.push(one)
      if (running < maxConcurrentStatements) void run()
      return one.promise
    },
  }
}

async function readGroup(system: System, group: readonly PendingRead[]): Promise<void> {
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
          eb('client.user_id', 'is', null), // built-in clients have the scopes of their user
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
