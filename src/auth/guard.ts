import type { Principal } from '../contract/index.ts'
import { withDeadline } from '../kit/index.ts'
import { makeFeedCache, storeErrors, type Change, type Feed, type System } from '../store/index.ts'
import { verifyAccessToken, type TokenSigner } from './token/access-token.ts'
import { makeTokenReader, type TokenReader } from './token/token-reader.ts'
import { makeAccessWatcher } from './token/watch-access.ts'
import { makeChallengeErrors, type ChallengeErrors } from './challenge-errors.ts'
import { intersect, splitScopes } from './account/scopes.ts'

/** Authenticates callers and checks their access. */
export interface Guard {
  /**
   * Authorizes an Authorization header: the token must be valid and carry one of the scopes; without scopes, any valid
   * token is accepted. Returns synchronously if the token is cached.
   * @throws WP_AUTH_NO_TOKEN, WP_AUTH_TOKEN_FORM, WP_AUTH_TOKEN, WP_AUTH_SCOPE, WP_AUTH_USER_SCOPE, WP_STORE_FEED_STALE
   */
  authorize(header: string | undefined, needed: readonly string[]): Principal | Promise<Principal>
  /**
   * Whether a principal that was authorized before may call a route that needs one of these scopes.
   * @throws WP_AUTH_NO_TOKEN, WP_AUTH_SCOPE
   */
  assertScopes(principal: Principal | undefined, needed: readonly string[]): Principal
  /**
   * Watches a token that was authorized for something that takes long, such as a stream.
   * @param ended called within a second after the token expires, is revoked or loses the scopes, or if that is unknown
   * @returns a function that ends the watch
   */
  watch(header: string, needed: readonly string[], ended: () => void): () => void
  /** Returns the tokens used since the last call: time of use in milliseconds since 1970, by token id. */
  drainUses(): ReadonlyMap<string, number>
  close(): void
}

export interface GuardOptions extends TokenSigner {
  readonly system: System
  readonly feed: Feed
}

interface VerifiedToken {
  readonly principal: Principal
  /** The scopes of the token. The principal's scopes are those of them that its user and its client still have. */
  readonly tokenScopes: readonly string[]
  readonly jti: string
  readonly familyId: string | null
  readonly expiresAt: number
}

const bearerPrefix = 'Bearer '
const cacheLimit = 10_000
/** Maximum number of tokens whose last use is collected; further uses are not recorded. */
const usesLimit = 50_000
const systemTimeoutMs = 3000

/** Makes the guard of a server. Verified tokens are cached by the whole token; the change feed invalidates them. */
export function makeGuard(options: GuardOptions): Guard {
  const { feed, keys, clock } = options
  const stop = feed.listen((changes) => {
    if (changes === 'reset' || changes.some(({ kind }) => kind === 'key')) keys.markChanged()
  })
  // A key may have been withdrawn, and all tokens that it signed with it.
  const cache = makeFeedCache<VerifiedToken>({ feed, limit: cacheLimit, subjectsOf, clearOn: ['key'] })
  const challenges = makeChallengeErrors(options.issuer)
  const reader = makeTokenReader(options.system)
  let uses = new Map<string, number>()

  const watcher = makeAccessWatcher({ feed }) // after the cache, which the same changes invalidate

  function checkAccess(verified: VerifiedToken, now: number, needed: readonly string[]): Principal {
    if (uses.size < usesLimit) uses.set(verified.jti, now)
    return checkScopes(verified, needed)
  }

  function checkScopes({ principal, tokenScopes }: VerifiedToken, needed: readonly string[]): Principal {
    if (needed.length === 0 || needed.some((scope) => principal.scopes.includes(scope))) return principal
    throw challenges.missingScope(principal, tokenScopes, needed)
  }

  /** Checks again, without noting a use. The token was authorized before. */
  function recheck(token: string, needed: readonly string[]): unknown {
    const cached = cache.get(token)
    if (cached === undefined) {
      const load = () => loadVerified(options, reader, { token, challenges })
      return cache.load(token, load).then((verified) => checkScopes(verified, needed))
    }
    if (cached.expiresAt <= clock.now()) throw challenges.invalid('has expired')
    return checkScopes(cached, needed)
  }

  return {
    authorize(header = '', needed) {
      // The usual spelling of the header. Cached tokens were parsed strictly when first seen.
      let token = header.slice(bearerPrefix.length)
      let cached = header.startsWith(bearerPrefix) ? cache.get(token) : undefined
      if (cached === undefined) {
        token = readBearer(header, needed, challenges)
        cached = cache.get(token)
      }
      if (cached === undefined) {
        const load = () => loadVerified(options, reader, { token, challenges })
        return cache.load(token, load).then((verified) => checkAccess(verified, clock.now(), needed))
      }
      const now = clock.now()
      if (cached.expiresAt > now) return checkAccess(cached, now, needed)
      cache.delete(token)
      throw challenges.invalid('has expired')
    },
    assertScopes: makeScopeCheck(options.issuer),
    watch(header, needed, ended) {
      const token = readBearer(header, needed, challenges)
      return watcher.watch(() => recheck(token, needed), ended)
    },
    drainUses() {
      const drained = uses
      uses = new Map()
      return drained
    },
    close() {
      stop()
      watcher.close()
      cache.close()
    },
  }
}

/** Makes the check of a principal that was authorized before. */
export function makeScopeCheck(issuer: string): Guard['assertScopes'] {
  const challenges = makeChallengeErrors(issuer)
  return (principal, needed) => {
    if (principal === undefined) throw challenges.noToken(needed)
    const { scopes } = principal
    if (needed.length === 0 || needed.some((scope) => scopes.includes(scope))) return principal
    throw challenges.missingScope(principal, scopes, needed)
  }
}

function subjectsOf({ principal, jti, familyId }: VerifiedToken): Change[] {
  return [
    { kind: 'user', subject: principal.user.id },
    { kind: 'client', subject: principal.client.id },
    { kind: 'token', subject: jti },
    ...(familyId === null ? [] : [{ kind: 'family', subject: familyId } as const]),
  ]
}

function readBearer(header: string, needed: readonly string[], challenges: ChallengeErrors): string {
  // Another scheme, or an empty Bearer header, is not an attempt to authenticate. A comma joins a second header.
  if (!/(^|, *)Bearer(?![^ ])/i.test(header) || /^Bearer *$/i.test(header)) throw challenges.noToken(needed)
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(header)
  if (match === null) throw challenges.malformed()
  return match[1]!
}

/** Verifies the signature, then reads the token's current state from System. */
async function loadVerified(
  options: GuardOptions,
  reader: TokenReader,
  { token, challenges }: { token: string; challenges: ChallengeErrors },
): Promise<VerifiedToken> {
  const verification = await withSystemTimeout(verifyAccessToken(options, token))
  if (!('jti' in verification)) throw challenges.invalid(verification.reason, verification.cause)
  const { jti } = verification
  const stored = await withSystemTimeout(reader.read(jti))
  if (stored === undefined) throw challenges.invalid('is unknown')
  const { user, client, familyId, expiresAt } = stored
  if (stored.revokedAt !== null) throw challenges.invalid('was revoked')
  if (user.status !== 'active') throw challenges.invalid('belongs to a disabled user')
  if (client.status !== 'active') throw challenges.invalid('belongs to a disabled client')
  const tokenScopes = splitScopes(stored.scope)
  return {
    principal: {
      user: { id: user.id, name: user.name },
      client: { id: client.id },
      scopes: intersect(tokenScopes, stored.heldScopes),
    },
    tokenScopes,
    jti,
    familyId,
    expiresAt,
  }
}

/** Limits the time of a System query. If the state of a token is unknown, it must be rejected. */
async function withSystemTimeout<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await withDeadline(work, systemTimeoutMs, () => {
      throw new Error(`System did not respond within ${systemTimeoutMs} ms`)
    })
  } catch (cause) {
    throw storeErrors.WP_STORE_FEED_STALE({}, { cause, retryAfterSeconds: 1 })
  }
}
