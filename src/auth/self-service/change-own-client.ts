import type { Transaction } from 'kysely'
import { makeSecret, sha256 } from '../../kit/index.ts'
import { recordChanges, type SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { revokeInTransaction } from '../token/revoke.ts'
import { lockToken } from '../token/lock-token.ts'
import { assertClientName } from '../account/client-name.ts'
import { storeClientParts } from '../account/clients.ts'
import { endAccess } from '../access/end-access.ts'
import { revokeRest, type Leaving } from '../access/revoke-in-batches.ts'
import {
  assertMayGrant,
  assertMayManage,
  checkClientParts,
  type Owner,
  findOwnClient,
  type OwnClient,
} from './own-clients.ts'
import { loadUserScopes, lockUser } from '../account/users.ts'

/** The properties to change; undefined ones stay the same. */
export interface OwnClientChange {
  readonly name?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly grants?: readonly string[] | undefined
  readonly redirectUris?: readonly string[] | undefined
  readonly status?: 'active' | 'disabled' | undefined
}

/**
 * Changes one of the user's own clients. Existing tokens immediately lose scopes that the client loses. Disabling
 * revokes all tokens and disables the subscriptions that the client created.
 * @throws WP_AUTH_CLIENT_UNKNOWN, WP_AUTH_CLIENT_BARRED, WP_AUTH_CLIENT_NAME, WP_AUTH_TOKEN, and errors of the rules for own clients
 */
export async function changeOwnClient(
  issuer: TokenIssuer,
  { owner, id }: { owner: Owner; id: string },
  change: OwnClientChange,
): Promise<OwnClient> {
  const isOnlyDisabled = Object.entries(change).every(
    ([name, value]) => value === undefined || (name === 'status' && value === 'disabled'),
  )
  const leaving: Leaving = {}
  const changed = await changeAsOwner(issuer, owner, async (trx) => {
    const client = await findOwnClient(trx, owner.id, id)
    if (change.name !== undefined) assertClientName(change.name)
    if (!isOnlyDisabled) assertMayManage(owner, client, await loadUserScopes(trx, owner.id))
    if (client.isBarred && change.status === 'active') throw errors.WP_AUTH_CLIENT_BARRED({ client: client.name })
    await storeParts(trx, { owner, client, change })
    await storeStatus(issuer, trx, { client, status: change.status, leaving })
    return findOwnClient(trx, owner.id, id)
  })
  await revokeRestOf(issuer, id, leaving)
  return changed
}

/**
 * Removes one of the user's own clients, with all its tokens, grants and subscriptions.
 * @throws WP_AUTH_CLIENT_UNKNOWN, WP_AUTH_TOKEN
 */
export async function removeOwnClient(issuer: TokenIssuer, owner: Owner, id: string): Promise<void> {
  const leaving: Leaving = {}
  await changeAsOwner(issuer, owner, async (trx) => {
    await findOwnClient(trx, owner.id, id)
    await trx.deleteFrom('waypost_consent').where('client_id', '=', id).execute()
    await trx.deleteFrom('waypost_client_scope').where('client_id', '=', id).execute()
    await trx.deleteFrom('waypost_client').where('id', '=', id).execute()
    const end = { of: { clientId: id }, now: issuer.clock.now(), leaving, subscriptions: 'deleted' } as const
    await endAccess(issuer.system, trx, end)
  })
  await revokeRestOf(issuer, id, leaving)
}

/**
 * Replaces a client's secret; the old one stops working immediately. Tokens stay valid unless they are to be revoked,
 * so that a secret can be replaced without interruption.
 * @throws WP_AUTH_CLIENT_UNKNOWN, WP_AUTH_CLIENT_PUBLIC, WP_AUTH_TOKEN, and errors of `assertMayManage`
 */
export async function replaceClientSecret(
  issuer: TokenIssuer,
  owner: Owner,
  { id, revokeTokens }: { id: string; revokeTokens: boolean },
): Promise<{ client: OwnClient; secret: string }> {
  const leaving: Leaving = {}
  const replaced = await changeAsOwner(issuer, owner, async (trx) => {
    const client = await findOwnClient(trx, owner.id, id)
    if (client.public) throw errors.WP_AUTH_CLIENT_PUBLIC({ client: client.name })
    assertMayManage(owner, client, await loadUserScopes(trx, owner.id))
    const secret = makeSecret()
    const update = trx.updateTable('waypost_client').set({ secret_hash: sha256(secret) })
    await update.where('id', '=', id).execute()
    const end = { of: { clientId: id }, now: issuer.clock.now(), leaving }
    if (revokeTokens) await endAccess(issuer.system, trx, end)
    else await recordChanges(issuer.system, trx, [{ kind: 'client', subject: id }])
    return { client, secret }
  })
  await revokeRestOf(issuer, id, leaving)
  return replaced
}

/** Revokes the tokens that the transaction of a change has left because they are many. */
async function revokeRestOf(issuer: TokenIssuer, clientId: string, leaving: Leaving): Promise<void> {
  if (leaving.isLeft !== true) return
  await revokeRest(issuer.system, { of: { clientId }, now: issuer.clock.now() }, leaving)
  await issuer.applyChanges()
}

/**
 * Runs one change of an owner at a time, and applies it in this process before returning.
 * @throws WP_AUTH_TOKEN
 */
async function changeAsOwner<Value>(
  issuer: TokenIssuer,
  owner: Owner,
  work: (trx: Transaction<SystemTables>) => Promise<Value>,
): Promise<Value> {
  const value = await issuer.system.transaction(async (trx) => {
    await lockUser(issuer.system, trx, owner.id)
    await lockToken(issuer, trx, owner.jti)
    return work(trx)
  })
  await issuer.applyChanges()
  return value
}

async function storeParts(
  trx: Transaction<SystemTables>,
  { owner, client, change }: { owner: Owner; client: OwnClient; change: OwnClientChange },
): Promise<void> {
  const { id } = client
  const {
    name = client.name,
    scopes = client.scopes,
    grants = client.grants,
    redirectUris = client.redirectUris,
  } = change
  // Values that an administrator set may stay, even if owners cannot set them.
  const isSame = change.scopes === undefined && change.grants === undefined && change.redirectUris === undefined
  const asked = { ...client, scopes, grants, redirectUris }
  const parts = isSame ? client : checkClientParts(asked, client.grants)
  if (change.scopes !== undefined) assertMayGrant(owner, parts.scopes)
  await storeClientParts(trx, id, {
    name,
    grants: parts.grants,
    ...(change.scopes === undefined ? {} : { scopes: parts.scopes }),
    ...(change.redirectUris === undefined ? {} : { redirectUris: parts.redirectUris }),
  })
}

/** Must come last, because it writes to the change feed. */
async function storeStatus(
  issuer: TokenIssuer,
  trx: Transaction<SystemTables>,
  { client, status, leaving }: { client: OwnClient; status: OwnClient['status'] | undefined; leaving: Leaving },
): Promise<void> {
  const { id, isBarred } = client
  // Owners cannot change the status of a client that an administrator disabled.
  if (status !== undefined && !isBarred) {
    const disabled_by = status === 'disabled' ? ('owner' as const) : null
    await trx.updateTable('waypost_client').set({ status, disabled_by }).where('id', '=', id).execute()
  }
  const end = { of: { clientId: id }, now: issuer.clock.now(), leaving, subscriptions: 'disabled' } as const
  if (status === 'disabled') await endAccess(issuer.system, trx, end)
  // What is left if the disabling was interrupted.
  else if (status === 'active' && client.status === 'disabled')
    await revokeInTransaction(issuer.system, trx, { which: end.of, now: end.now })
  else await recordChanges(issuer.system, trx, [{ kind: 'client', subject: id }])
}
