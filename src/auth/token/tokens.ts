import type { Kysely, Transaction } from 'kysely'
import { makeSecret, makeUuid, sha256, type Settings } from '../../kit/index.ts'
import type { System, SystemTables, Feed, Secrets } from '../../store/index.ts'
import { type ClientLookup, openClients } from '../account/client-lookup.ts'
import { backendClientId, portalClientId } from '../account/clients.ts'
import { invalidClient } from '../errors.ts'
import {
  signAccessToken,
  type ChoosingSigner,
  type Grantee,
  type SignedToken,
  type TokenSigner,
} from './access-token.ts'
import { type NewToken, type TokenWriter, makeTokenWriter } from './token-writer.ts'

/** What issuing tokens needs from its server. */
export interface TokenIssuer extends ChoosingSigner {
  readonly system: System
  /** The settings of the active release. */
  settings(): Settings
  /** The keys of 32 bytes for deriving successors of refresh tokens, newest first. */
  readonly refreshKeys: readonly Buffer[]
  readonly clients: ClientLookup
  readonly writer: TokenWriter
  /** How long requests that are being read now may have waited while this process was stalled, in milliseconds. */
  stalledMs(): number
  /** Applies changes of this process to its own caches immediately. */
  applyChanges(): Promise<void>
}

/** A token response before the separator of its scopes is chosen. */
export interface IssuedTokens {
  readonly accessToken: string
  readonly expiresIn: number
  readonly refreshToken?: string
  readonly scopes: readonly string[]
  /** The separator of the original scopes, if they were requested earlier. */
  readonly separator?: ' ' | ','
}

/** Converts a signed token to a row. */
function toRow(token: SignedToken, options: { grantee: Grantee; familyId: string | null; now: number }): NewToken {
  return {
    jti: token.jti,
    user_id: options.grantee.userId,
    client_id: options.grantee.clientId,
    family_id: options.familyId,
    scope: options.grantee.scopes.join(' '),
    created_at: options.now,
    expires_at: token.expiresAt,
  }
}

/** Stores a token in a larger transaction. */
export async function storeAccessToken(
  trx: Transaction<SystemTables>,
  token: SignedToken,
  options: { grantee: Grantee; familyId: string | null; now: number },
): Promise<void> {
  await trx
    .insertInto('waypost_token')
    .values({ ...toRow(token, options), revoked_at: null, used_at: null })
    .execute()
}

/** Signed tokens. They are not valid until they have been stored. */
export interface PreparedTokens {
  readonly issued: IssuedTokens & { readonly jti: string }
  /** The new family, with which all of them can be revoked. */
  readonly familyId: string
  store(trx: Transaction<SystemTables>): Promise<void>
}

export interface IssueOptions {
  readonly refresh: boolean
  readonly lifetimeMs?: number
  /** The hash of the secret with which the client authenticated; undefined for a public client. */
  readonly secretHash?: string | undefined
  /** A family of other tokens with which an access token ends. */
  readonly endsWith?: string | null
}

/**
 * Issues an access token; together with a refresh token it begins a family.
 * @throws OAuthError invalid_client if user or client was disabled, or the client's secret replaced, before this
 * process learned of it; such a token would otherwise outlast its revocation
 */
export async function issueTokens(
  issuer: TokenIssuer,
  grantee: Grantee,
  { refresh, secretHash, endsWith = null, lifetimeMs = issuer.settings().token_lifetime }: IssueOptions,
): Promise<IssuedTokens & { jti: string }> {
  if (refresh) {
    const prepared = await prepareFamily(issuer, grantee, { refresh: true })
    await issuer.system.transaction(async (trx) => {
      await assertGranteeActive(issuer.system, trx, { ...grantee, secretHash })
      await prepared.store(trx)
    })
    return prepared.issued
  }
  const token = await signAccessToken(issuer, grantee, lifetimeMs)
  const row = toRow(token, { grantee, familyId: endsWith, now: issuer.clock.now() })
  if (!(await issuer.writer.store({ token: row, secretHash }))) throw changedMeanwhile()
  return { accessToken: token.jwt, jti: token.jti, expiresIn: token.expiresIn, scopes: grantee.scopes }
}

const changedMeanwhile = () => invalidClient('Unknown client or wrong secret')

/**
 * Locks user and client until the end of the transaction, and checks that they have not changed.
 * @throws OAuthError invalid_client if one was disabled or the secret was replaced
 */
export async function assertGranteeActive(
  system: System,
  trx: Transaction<SystemTables>,
  { userId, clientId, secretHash }: Omit<Grantee, 'scopes'> & { secretHash: string | undefined },
): Promise<void> {
  const row = await trx
    .selectFrom('waypost_user as user')
    .innerJoin('waypost_client as client', (join) => join.on('client.id', '=', clientId))
    .select('client.secret_hash')
    .where('user.id', '=', userId)
    .where('user.status', '=', 'active')
    .where('client.status', '=', 'active')
    .$if(system.kind === 'postgresql', (query) => query.forShare())
    .executeTakeFirst()
  if (row === undefined || (secretHash !== undefined && row.secret_hash !== secretHash)) throw changedMeanwhile()
}

/** Signs the first tokens of a family, to be stored in a larger transaction. */
export async function prepareFamily(
  issuer: TokenIssuer,
  grantee: Grantee,
  { refresh, signIn = null }: { refresh: boolean; signIn?: string | null },
): Promise<PreparedTokens> {
  const settings = issuer.settings()
  const now = issuer.clock.now()
  const sessionEnds = findSessionEnd(grantee, settings, now)
  const familyEnds = Math.min(now + settings.refresh_family_lifetime, sessionEnds)
  const token = await signAccessToken(issuer, grantee, Math.min(settings.token_lifetime, sessionEnds - now))
  const refreshToken = refresh ? makeSecret() : undefined
  const familyId = makeUuid()
  return {
    familyId,
    issued: {
      accessToken: token.jwt,
      jti: token.jti,
      expiresIn: token.expiresIn,
      scopes: grantee.scopes,
      ...(refreshToken === undefined ? {} : { refreshToken }),
    },
    async store(trx) {
      await storeFamily(trx, grantee, { id: familyId, now, expiresAt: familyEnds, signIn })
      if (refreshToken !== undefined) {
        const expiresAt = Math.min(familyEnds, now + settings.refresh_lifetime)
        await storeRefreshToken(trx, refreshToken, { familyId, now, expiresAt })
      }
      await storeAccessToken(trx, token, { grantee, familyId, now })
    },
  }
}

/** Each load of the portal's page begins a family, so these must not accumulate for a month. */
const maxPortalFamilyMs = 8 * 3_600_000

function findSessionEnd({ clientId, passwordAt = Infinity }: Grantee, settings: Settings, now: number): number {
  if (clientId === portalClientId) return now + maxPortalFamilyMs
  return clientId === backendClientId ? passwordAt + settings.backend_session : Infinity
}

async function storeFamily(
  trx: Transaction<SystemTables>,
  grantee: Grantee,
  family: { id: string; now: number; expiresAt: number; signIn: string | null },
): Promise<void> {
  await trx
    .insertInto('waypost_token_family')
    .values({
      id: family.id,
      user_id: grantee.userId,
      client_id: grantee.clientId,
      scope: grantee.scopes.join(' '),
      password_at: grantee.passwordAt ?? null,
      created_at: family.now,
      expires_at: family.expiresAt,
      revoked_at: null,
      sign_in: family.signIn,
    })
    .execute()
}

export async function storeRefreshToken(
  db: Kysely<SystemTables>,
  refreshToken: string,
  options: { familyId: string; now: number; expiresAt: number },
): Promise<void> {
  await db
    .insertInto('waypost_refresh_token')
    .values({
      hash: sha256(refreshToken),
      family_id: options.familyId,
      created_at: options.now,
      expires_at: options.expiresAt,
      used_at: null,
      used_scope: null,
    })
    .execute()
}

export interface TokenIssuerOptions extends TokenSigner {
  readonly system: System
  readonly secrets: Secrets
  /** The settings of the active release. */
  settings(): Settings
  /** For servers: invalidates caches, and applies changes of this process immediately. */
  readonly feed?: Feed
  /** For servers: see `TokenIssuer`. */
  readonly stalledMs?: () => number
}

export function openTokenIssuer({ feed, secrets, stalledMs = () => 0, ...options }: TokenIssuerOptions): TokenIssuer {
  const { system } = options
  return {
    ...options,
    refreshKeys: secrets.deriveKeys('refresh'),
    clients: openClients(system, feed),
    writer: makeTokenWriter(system),
    stalledMs,
    // Caches are not used while the feed cannot be read.
    applyChanges: async () => feed?.catchUp().catch(() => undefined),
  }
}
