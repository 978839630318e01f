import { makeSecret, makeUuid, isUuid } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { lockToken } from '../token/lock-token.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { errors } from '../errors.ts'
import { assertClientName } from '../account/client-name.ts'
import { insertClient, grantTypes } from '../account/clients.ts'
import { splitScopes, checkScopes, isBackendScope } from '../account/scopes.ts'
import { lockUser } from '../account/users.ts'
import { checkRedirectUris } from '../account/redirect-uris.ts'

/** A client as its owner sees it. */
export interface OwnClient extends ClientParts {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'disabled'
  /** An administrator disabled it, so its owner cannot enable it. */
  readonly isBarred: boolean
  readonly createdAt: number
}

/** Maximum number of clients per user. */
export const ownClientLimit = 50

type Db = Pick<System['db'], 'selectFrom'>

export async function listOwnClients(db: Db, userId: string): Promise<readonly OwnClient[]> {
  const clients = await selectClients(db, userId).orderBy('created_at').orderBy('id').execute()
  const given = Map.groupBy(await selectScopes(db, userId).execute(), (row) => row.client_id)
  return clients.map((row) => toOwnClient(row, given.get(row.id) ?? []))
}

/** Finds one of the user's clients. @throws WP_AUTH_CLIENT_UNKNOWN, also for clients of other users */
export async function findOwnClient(db: Db, userId: string, id: string): Promise<OwnClient> {
  const row = isUuid(id) ? await selectClients(db, userId).where('id', '=', id).executeTakeFirst() : undefined
  if (row === undefined) throw errors.WP_AUTH_CLIENT_UNKNOWN({ client: id.slice(0, 64) })
  return toOwnClient(row, await selectScopes(db, userId).where('given.client_id', '=', id).execute())
}

/**
 * Adds a client of the user's own.
 * @returns the client and its secret, which cannot be shown again
 * @throws WP_AUTH_CLIENT_LIMIT, WP_AUTH_CLIENT_NAME, WP_AUTH_TOKEN, and errors of `assertMayGrant` and `checkClientParts`
 */
export async function addOwnClient(
  issuer: Pick<TokenIssuer, 'system' | 'issuer'>,
  owner: Owner,
  asked: ClientParts & { readonly name: string },
): Promise<{ client: OwnClient; secret: string | undefined }> {
  assertClientName(asked.name)
  const parts = checkClientParts(asked)
  assertMayGrant(owner, parts.scopes)
  const { system } = issuer
  const id = makeUuid()
  const secret = parts.public ? undefined : makeSecret()
  return system.transaction(async (trx) => {
    await lockUser(system, trx, owner.id)
    await lockToken(issuer, trx, owner.jti)
    const { length } = await selectClients(trx, owner.id).execute()
    if (length >= ownClientLimit) throw errors.WP_AUTH_CLIENT_LIMIT({ limit: ownClientLimit })
    await insertClient(system, trx, { ...parts, id, userId: owner.id, secret })
    return { client: await findOwnClient(trx, owner.id, id), secret }
  })
}

function selectClients(db: Db, userId: string) {
  return db.selectFrom('waypost_client').selectAll().where('user_id', '=', userId)
}

function selectScopes(db: Db, userId: string) {
  return db
    .selectFrom('waypost_client_scope as given')
    .innerJoin('waypost_client as client', 'client.id', 'given.client_id')
    .select(['given.client_id', 'given.scope'])
    .where('client.user_id', '=', userId)
    .orderBy('given.scope')
}

function toOwnClient(row: SystemTables['waypost_client'], given: readonly { scope: string }[]): OwnClient {
  return {
    id: row.id,
    name: row.name,
    scopes: given.map(({ scope }) => scope),
    grants: splitScopes(row.grants),
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    public: row.secret_hash === null,
    status: row.status,
    isBarred: row.status === 'disabled' && row.disabled_by !== 'owner',
    createdAt: row.created_at,
  }
}

/** A user managing their own resources. They can grant only the scopes of their token. */
export interface Owner {
  readonly id: string
  readonly scopes: readonly string[]
  /** The id of the token. If it was revoked, nothing is written. */
  readonly jti: string
}

/** The parts of a client that define its access. */
export interface ClientParts {
  readonly scopes: readonly string[]
  readonly grants: readonly string[]
  readonly redirectUris: readonly string[]
  readonly public: boolean
}

/**
 * Checks that the parts of a client are consistent.
 * @param held grants that the client already has; administrators may have added grants that owners cannot
 * @throws WP_AUTH_GRANT_UNKNOWN, WP_AUTH_GRANT_RESERVED, WP_AUTH_CLIENT_PARTS, WP_AUTH_REDIRECT_URI,
 * WP_AUTH_REDIRECT_URIS
 */
export function checkClientParts<Parts extends ClientParts>(parts: Parts, held: readonly string[] = []): Parts {
  const grants = [...new Set(parts.grants)]
  for (const grant of grants) {
    if (!(grantTypes as readonly string[]).includes(grant)) throw errors.WP_AUTH_GRANT_UNKNOWN({ grant })
    // A client with this grant receives passwords of other users.
    if (grant === 'password' && !held.includes(grant)) throw errors.WP_AUTH_GRANT_RESERVED({ grant })
  }
  const redirectUris = checkRedirectUris(parts.redirectUris)
  if (grants.includes('authorization_code') && redirectUris.length === 0) {
    throw errors.WP_AUTH_CLIENT_PARTS({ reason: 'authorization_code needs a redirect URI' })
  }
  if (grants.includes('client_credentials') && parts.public) {
    throw errors.WP_AUTH_CLIENT_PARTS({ reason: 'client_credentials needs a secret, but public clients have none' })
  }
  return { ...parts, grants, redirectUris, scopes: checkScopes(parts.scopes) }
}

/**
 * Checks that an owner may grant scopes to a client. Owners can grant only the scopes that they have, and never those
 * of administration, because the client would outlive the login.
 * @throws WP_AUTH_SCOPE_RESERVED, WP_AUTH_SCOPE_NOT_CARRIED
 */
export function assertMayGrant(owner: Owner, scopes: readonly string[]): void {
  const reserved = scopes.filter(isBackendScope)
  if (reserved.length > 0) throw errors.WP_AUTH_SCOPE_RESERVED({ scopes: list(reserved) })
  const missing = scopes.filter((scope) => !owner.scopes.includes(scope))
  if (missing.length > 0) throw errors.WP_AUTH_SCOPE_NOT_CARRIED({ scopes: list(missing) })
}

/**
 * Checks that an owner may manage a client. Access to a client's secret, or to its codes at another redirect URI, gives
 * its scopes; a token with fewer scopes must not gain any that way.
 * @throws WP_AUTH_SCOPE_RESERVED, WP_AUTH_SCOPE_NOT_CARRIED
 */
export function assertMayManage(owner: Owner, client: ClientParts, userScopes: readonly string[]): void {
  assertMayGrant(
    owner,
    client.scopes.filter((scope) => isBackendScope(scope) || userScopes.includes(scope)),
  )
}

function list(scopes: readonly string[]): string {
  return scopes.slice(0, 10).join(', ').slice(0, 300)
}
