import type { Principal } from '../contract/index.ts'
import { storeErrors, type Feed, type System } from '../store/index.ts'
import { verifyAccessToken, type TokenSigner } from './token/access-token.ts'
import { errors } from './errors.ts'
import { intersect, splitScopes } from './account/scopes.ts'

/** Decides who calls and whether he may. */
export interface Guard {
  /**
   * Whoever sent an Authorization header with a token that counts and carries one of the scopes; with no scope named,
   * any valid token counts. Answers without waiting when the token was seen before and nothing changed since.
   * @throws WP_AUTH_NO_TOKEN, WP_AUTH_TOKEN_FORM, WP_AUTH_TOKEN, WP_AUTH_SCOPE, WP_AUTH_USER_SCOPE, WP_STORE_FEED_STALE
   */
  authorize(header: string | undefined, needed: readonly string[]): Principal | Promise<Principal>
  close(): void
}

export interface GuardOptions extends TokenSigner {
  readonly system: System
  readonly feed: Feed
}

interface Verified {
  readonly principal: Principal
  /** What the token carries; the principal's scopes are those that its user still has. */
  readonly carried: readonly string[]
  readonly jti: string
  readonly familyId: string | null
  readonly expiresAt: number
}

const cacheLimit = 10_000
const answerLimitMs = 3000

/** Makes the guard of a server. Verified tokens are cached, keyed by the whole token, under the change feed. */
export function makeGuard(options: GuardOptions): Guard {
  const { feed, keys, clock } = options
  const cache = new Map<string, Verified>()
  let epoch = 0

  const stop = feed.listen((changes) => {
    epoch++
    if (changes === 'reset' || changes.some((change) => change.kind === 'key')) {
      cache.clear()
      return keys.markChanged()
    }
    const touched = new Set(changes.map((change) => `${change.kind} ${change.subject}`))
    for (const [token, verified] of cache) {
      if (subjectsOf(verified).some((subject) => touched.has(subject))) cache.delete(token)
    }
  })

  async function verify(token: string): Promise<Verified> {
    const epochBefore = epoch
    const freshBefore = feed.isFresh()
    const verified = await loadVerified(options, token)
    if (freshBefore && epoch === epochBefore && verified.expiresAt > clock.now()) {
      if (cache.size >= cacheLimit) cache.delete(cache.keys().next().value!)
      cache.set(token, verified)
    }
    return verified
  }

  return {
    authorize(header, needed) {
      const token = readBearer(header, needed)
      const cached = feed.isFresh() ? cache.get(token) : undefined
      if (cached === undefined) return verify(token).then((verified) => checkScopes(verified, needed))
      if (cached.expiresAt > clock.now()) return checkScopes(cached, needed)
      cache.delete(token)
      throw refuse('has expired')
    },
    close: stop,
  }
}

function subjectsOf(verified: Verified): string[] {
  const { principal, jti, familyId } = verified
  return [`user ${principal.user.id}`, `client ${principal.client.id}`, `token ${jti}`, `family ${familyId}`]
}

function readBearer(header: string | undefined, needed: readonly string[]): string {
  // Whoever uses another scheme has not tried yet, and is told no error code (RFC 6750 §3.1).
  if (header === undefined || !/^Bearer(?![^ ])/i.test(header)) {
    const list = needed.join(' or ')
    throw errors.WP_AUTH_NO_TOKEN(
      { need: list === '' ? '' : ` with the scope ${list}` },
      {
        brief: `no token; ${list === '' ? 'any that is valid' : `scope ${list}`} is needed`,
        headers: { 'www-authenticate': 'Bearer realm="waypost"' },
      },
    )
  }
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(header)
  if (match !== null) return match[1]!
  const challenge = 'Bearer realm="waypost", error="invalid_request"'
  throw errors.WP_AUTH_TOKEN_FORM({}, { headers: { 'www-authenticate': challenge } })
}

function checkScopes(verified: Verified, needed: readonly string[]): Principal {
  const { principal, carried } = verified
  if (needed.length === 0 || needed.some((scope) => principal.scopes.includes(scope))) return principal
  const list = needed.join(' or ')
  const headers = {
    'www-authenticate': `Bearer realm="waypost", error="insufficient_scope", scope="${needed.join(' ')}"`,
  }
  if (needed.some((scope) => carried.includes(scope))) {
    const { name } = principal.user
    throw errors.WP_AUTH_USER_SCOPE({ user: name, needed: list }, { headers, brief: `${name} lacks the scope ${list}` })
  }
  const brief = `scope ${list} is missing in the token`
  throw errors.WP_AUTH_SCOPE({ carried: carried.join(', ') || 'no scope', needed: list }, { headers, brief })
}

function refuse(reason: string, cause?: unknown): Error {
  return errors.WP_AUTH_TOKEN(
    { reason },
    {
      cause,
      brief: `token ${reason}`,
      headers: { 'www-authenticate': 'Bearer realm="waypost", error="invalid_token"' },
    },
  )
}

/** Checks the signature, then reads what System says of the token now. */
async function loadVerified(options: GuardOptions, token: string): Promise<Verified> {
  const verification = await answered(verifyAccessToken(options, token))
  if (!('jti' in verification)) throw refuse(verification.reason, verification.cause)
  const { jti } = verification
  const found = await answered(readToken(options.system, jti))
  if (found === undefined) throw refuse('is not known here')
  const { row, userScopes } = found
  if (row.revoked_at !== null) throw refuse('was revoked')
  if (row.user_status !== 'active') throw refuse('belongs to a user that is disabled')
  if (row.client_status !== 'active') throw refuse('belongs to a client that is disabled')
  const carried = splitScopes(row.scope)
  return {
    principal: {
      user: { id: row.user_id, name: row.user_name },
      client: { id: row.client_id },
      scopes: intersect(carried, userScopes),
    },
    carried,
    jti,
    familyId: row.family_id,
    expiresAt: row.expires_at,
  }
}

/** What System answers within the limit: whoever cannot know whether a token was revoked refuses it. */
async function answered<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`System did not answer within ${answerLimitMs} ms`)), answerLimitMs)
  })
  try {
    return await Promise.race([work, late])
  } catch (cause) {
    throw storeErrors.WP_STORE_FEED_STALE({}, { cause, retryAfterSeconds: 1 })
  } finally {
    clearTimeout(timer)
  }
}

async function readToken(system: System, jti: string) {
  const rows = await system.guardDb
    .selectFrom('waypost_token as token')
    .innerJoin('waypost_user as user', 'user.id', 'token.user_id')
    .innerJoin('waypost_client as client', 'client.id', 'token.client_id')
    .leftJoin('waypost_user_scope as granted', 'granted.user_id', 'token.user_id')
    .select([
      'token.user_id',
      'token.client_id',
      'token.family_id',
      'token.scope',
      'token.expires_at',
      'token.revoked_at',
    ])
    .select([
      'user.name as user_name',
      'user.status as user_status',
      'client.status as client_status',
      'granted.scope as granted',
    ])
    .where('token.jti', '=', jti)
    .execute()
  const row = rows[0]
  return row && { row, userScopes: rows.flatMap((one) => one.granted ?? []) }
}
