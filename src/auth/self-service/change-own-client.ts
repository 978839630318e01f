import type { Transaction } from 'kysely'
import { makeSecret, sha256 } from '../../kit/index.ts'
import { recordChanges, type SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { assertClientName } from '../account/client-name.ts'
import { insertClientScopes } from '../account/clients.ts'
import { endAccess } from '../access/end-access.ts'
import {
  assertMayGive,
  assertMayManage,
  checkClientParts,
  type Owner,
  findOwnClient,
  lockOwner,
  type OwnClient,
} from './own-clients.ts'
import { loadUserScopes } from '../account/users.ts'

/** What is to be different; what is not named stays. */
export interface OwnClientChange {
  readonly name?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly grants?: readonly string[] | undefined
  readonly redirectUris?: readonly string[] | undefined
  readonly status?: 'active' | 'disabled' | undefined
}

/**
 * Changes a client of the user's own. Tokens lose scopes that the client loses at once; disabling revokes them all and
 * disables the subscriptions that the client made.
 * @throws WP_AUTH_CLIENT_UNKNOWN, WP_AUTH_CLIENT_BARRED, WP_AUTH_CLIENT_NAME, and what the rules of own clients throw
 */
export async function changeOwnClient(
  issuer: TokenIssuer,
  { owner, id }: { owner: Owner; id: string },
  change: OwnClientChange,
): Promise<OwnClient> {
  return changing(issuer, owner, async (trx) => {
    const client = await findOwnClient(trx, owner.id, id)
    const isOnlyDisabled = Object.entries(change).every(
      ([name, value]) => value === undefined || (name === 'status' && value === 'disabled'),
    )
    if (change.name !== undefined) assertClientName(change.name)
    if (!isOnlyDisabled) assertMayManage(owner, client, await loadUserScopes(trx, owner.id))
    if (client.isBarred && change.status === 'active') throw errors.WP_AUTH_CLIENT_BARRED({ client: client.name })
    await storeParts(trx, { owner, client, change })
    await storeStatus(issuer, trx, { client, status: change.status })
    return findOwnClient(trx, owner.id, id)
  })
}

/** Removes a client of the user's own, all that it has of anybody, and what it subscribed to. @throws WP_AUTH_CLIENT_UNKNOWN */
export async function removeOwnClient(issuer: TokenIssuer, owner: Owner, id: string): Promise<void> {
  await changing(issuer, owner, async (trx) => {
    await findOwnClient(trx, owner.id, id)
    await trx.deleteFrom('waypost_consent').where('client_id', '=', id).execute()
    await trx.deleteFrom('waypost_client_scope').where('client_id', '=', id).execute()
    await trx.deleteFrom('waypost_client').where('id', '=', id).execute()
    await endAccess(issuer.system, trx, { of: { clientId: id }, now: issuer.clock.now(), subscriptions: 'deleted' })
  })
}

/**
 * Gives a client another secret; the old one stops at once. Tokens go on unless they are to be revoked, so that a secret
 * can be exchanged without an interruption.
 * @throws WP_AUTH_CLIENT_UNKNOWN, WP_AUTH_CLIENT_PUBLIC, and what `assertMayManage` throws
 */
export async function replaceClientSecret(
  issuer: TokenIssuer,
  owner: Owner,
  { id, revokeTokens }: { id: string; revokeTokens: boolean },
): Promise<{ client: OwnClient; secret: string }> {
  return changing(issuer, owner, async (trx) => {
    const client = await findOwnClient(trx, owner.id, id)
    if (client.public) throw errors.WP_AUTH_CLIENT_PUBLIC({ client: client.name })
    assertMayManage(owner, client, await loadUserScopes(trx, owner.id))
    const secret = makeSecret()
    const update = trx.updateTable('waypost_client').set({ secret_hash: sha256(secret) })
    await update.where('id', '=', id).execute()
    if (revokeTokens) await endAccess(issuer.system, trx, { of: { clientId: id }, now: issuer.clock.now() })
    else await recordChanges(issuer.system, trx, [{ kind: 'client', subject: id }])
    return { client, secret }
  })
}

/** One change of an owner after the other, which this process notices before it answers. */
async function changing<Value>(
  issuer: TokenIssuer,
  owner: Owner,
  work: (trx: Transaction<SystemTables>) => Promise<Value>,
): Promise<Value> {
  const value = await issuer.system.transaction(async (trx) => {
    await lockOwner(issuer.system, trx, owner.id)
    return work(trx)
  })
  await issuer.noticeChanges()
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
  // What whoever administers made otherwise may stay as it is.
  const isSame = change.scopes === undefined && change.grants === undefined && change.redirectUris === undefined
  const asked = { ...client, scopes, grants, redirectUris }
  const parts = isSame ? client : checkClientParts(asked, client.grants)
  if (change.scopes !== undefined) {
    assertMayGive(owner, parts.scopes)
    await trx.deleteFrom('waypost_client_scope').where('client_id', '=', id).execute()
    await insertClientScopes(trx, id, parts.scopes)
  }
  // A code is on its way to where it was meant for; nobody may fetch it there any more.
  if (change.redirectUris !== undefined) {
    await trx.deleteFrom('waypost_code').where('client_id', '=', id).where('used_at', 'is', null).execute()
  }
  await trx
    .updateTable('waypost_client')
    .set({ name, grants: parts.grants.join(' '), redirect_uris: JSON.stringify(parts.redirectUris) })
    .where('id', '=', id)
    .execute()
}

/** Writes to the feed as well: it comes last. */
async function storeStatus(
  issuer: TokenIssuer,
  trx: Transaction<SystemTables>,
  { client, status }: { client: OwnClient; status: OwnClient['status'] | undefined },
): Promise<void> {
  const { id, isBarred } = client
  // What whoever administers disabled stays his to enable.
  if (status !== undefined && !isBarred) {
    const disabled_by = status === 'disabled' ? ('owner' as const) : null
    await trx.updateTable('waypost_client').set({ status, disabled_by }).where('id', '=', id).execute()
  }
  const end = { of: { clientId: id }, now: issuer.clock.now(), subscriptions: 'disabled' } as const
  if (status === 'disabled') await endAccess(issuer.system, trx, end)
  else await recordChanges(issuer.system, trx, [{ kind: 'client', subject: id }])
}
