import type { Principal } from '../contract/index.ts'
import { withDeadline } from '../kit/index.ts'
import { makeFeedCache, storeErrors, type Change, type Feed, type System } from '../store/index.ts'
import { verifyAccessToken, type TokenSigner } from './token/access-token.ts'
import { makeTokenReader, type TokenReader } from './token/token-reader.ts'
import { makeRefusals, type Refusals } from './refusals.ts'
import { intersect, splitScopes } from './account/scopes.ts'

/** Decides who calls and whether he may. */
export interface Guard {
  /**
   * Whoever sent an Authorization header with a token that counts and carries one of the scopes; with no scope named,
   * any valid token counts. Answers without waiting when the token was seen before and nothing changed since.
   * @throws WP_AUTH_NO_TOKEN, WP_AUTH_TOKEN_FORM, WP_AUTH_TOKEN, WP_AUTH_SCOPE, WP_AUTH_USER_SCOPE, WP_STORE_FEED_STALE
   */
  authorize(header: string | undefined, needed: readonly string[]): Principal | Promise<Principal>
  /** Which tokens were used since this was last asked, by their id, and when: milliseconds since 1970. */
  takeUses(): ReadonlyMap<string, number>
  close(): void
}

export interface GuardOptions extends TokenSigner {
  readonly system: System
  readonly feed: Feed
}

interface Verified {
  readonly principal: Principal
  /** What the token carries; the principal's scopes are those that its user and its client still have. */
  readonly carried: readonly string[]
  readonly jti: string
  readonly familyId: string | null
  readonly expiresAt: number
}

const usualStart = 'Bearer '
const cacheLimit = 10_000
/** Tokens whose last use is remembered until it is taken; that of more is not written. */
const usesLimit = 50_000
const answerLimitMs = 3000

/** Makes the guard of a server. Verified tokens are cached, keyed by the whole token, under the change feed. */
export function makeGuard(options: GuardOptions): Guard {
  const { feed, keys, clock } = options
  const stop = feed.listen((changes) => {
    if (changes === 'reset' || changes.some(({ kind }) => kind === 'key')) keys.markChanged()
  })
  // A key may have been withdrawn, and with it whatever it signed.
  const cache = makeFeedCache<Verified>({ feed, limit: cacheLimit, subjectsOf, clearOn: ['key'] })
  const refusals = makeRefusals(options.issuer)
  const reader = makeTokenReader(options.system)
  let uses = new Map<string, number>()

  function admit({ principal, carried, jti }: Verified, now: number, needed: readonly string[]): Principal {
    if (uses.size < usesLimit) uses.set(jti, now)
    if (needed.length === 0 || needed.some((scope) => principal.scopes.includes(scope))) return principal
    throw refusals.scopeLacked(principal, carried, needed)
  }

  return {
    authorize(header = '', needed) {
      // Nearly everybody writes it so; what is found was read with more care the first time.
      let token = header.slice(usualStart.length)
      let cached = header.startsWith(usualStart) ? cache.get(token) : undefined
      if (cached === undefined) {
        token = readBearer(header, needed, refusals)
        cached = cache.get(token)
      }
      if (cached === undefined) {
        const load = () => loadVerified(options, reader, { token, refusals })
        return cache.load(token, load).then((verified) => admit(verified, clock.now(), needed))
      }
      const now = clock.now()
      if (cached.expiresAt > now) return admit(cached, now, needed)
      cache.delete(token)
      throw refusals.invalid('has expired')
    },
    takeUses() {
      const taken = uses
      uses = new Map()
      return taken
    },
    close() {
      stop()
      cache.close()
    },
  }
}

function subjectsOf({ principal, jti, familyId }: Verified): Change[] {
  return [
    { kind: 'user', subject: principal.user.id },
    { kind: 'client', subject: principal.client.id },
    { kind: 'token', subject: jti },
    ...(familyId === null ? [] : [{ kind: 'family', subject: familyId } as const]),
  ]
}

function readBearer(header: string, needed: readonly string[], refusals: Refusals): string {
  // Another scheme, or none behind "Bearer", is no attempt yet. Behind a comma is what a second header said.
  if (!/(^|, *)Bearer(?![^ ])/i.test(header) || /^Bearer *$/i.test(header)) throw refusals.noToken(needed)
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(header)
  if (match === null) throw refusals.malformed()
  return match[1]!
}

/** Checks the signature, then reads what System says of the token now. */
async function loadVerified(
  options: GuardOptions,
  reader: TokenReader,
  { token, refusals }: { token: string; refusals: Refusals },
): Promise<Verified> {
  const verification = await answered(verifyAccessToken(options, token))
  if (!('jti' in verification)) throw refusals.invalid(verification.reason, verification.cause)
  const { jti } = verification
  const stored = await answered(reader.read(jti))
  if (stored === undefined) throw refusals.invalid('is unknown')
  const { user, client, familyId, expiresAt } = stored
  if (stored.revokedAt !== null) throw refusals.invalid('was revoked')
  if (user.status !== 'active') throw refusals.invalid('belongs to a disabled user')
  if (client.status !== 'active') throw refusals.invalid('belongs to a disabled client')
  const carried = splitScopes(stored.scope)
  return {
    principal: {
      user: { id: user.id, name: user.name },
      client: { id: client.id },
      scopes: intersect(carried, stored.heldScopes),
    },
    carried,
    jti,
    familyId,
    expiresAt,
  }
}

/** What System answers within the limit: whoever cannot know whether a token was revoked refuses it. */
async function answered<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await withDeadline(work, answerLimitMs, () => {
      throw new Error(`System did not respond within ${answerLimitMs} ms`)
    })
  } catch (cause) {
    throw storeErrors.WP_STORE_FEED_STALE({}, { cause, retryAfterSeconds: 1 })
  }
}
