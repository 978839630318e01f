import { isDeepStrictEqual } from 'node:util'
import {
  addClient,
  authErrors,
  checkClientParts,
  resolveClient,
  resolveUser,
  isBackendScope,
  loadUserScopes,
  nothingEnded,
  renewClientSecret,
  setClientParts,
  setClientStatus,
  type Batches,
  type EndedAccess,
  type Leaving,
  type NewClient,
} from '../auth/index.ts'
import type { AuditFacts, System } from '../store/index.ts'
import { assertMayControl, assertMayGrant } from './access-rules.ts'
import { changeSystem, revokeHostRest, type ActingHost, type WriteAudit } from './change-system.ts'
import { loadClient, type ListedClient } from './lists.ts'

export interface ClientRequest extends Omit<NewClient, 'scopes' | 'grants'> {
  readonly scopes: readonly string[] | undefined
  readonly grants: readonly string[] | undefined
}

/**
 * Adds a client. Scopes default to all scopes of its owner except those of administration; grants default to those that
 * match its redirect URIs.
 * @throws WP_AUTH_CLIENT_PARTS for a client that could never get a token
 */
export async function addHostClient(
  host: ActingHost,
  request: ClientRequest,
): Promise<{
  client_id: string
  client_secret?: string
  scopes: readonly string[]
  grants: readonly string[]
  redirect_uris: readonly string[]
}> {
  const owner = await resolveUser(host.system, request.user)
  const owned = await loadUserScopes(host.system.db, owner.id)
  const scopes = request.scopes ?? owned.filter((scope) => !isBackendScope(scope))
  // Operators can assign every grant, including `password`.
  assertMayGrant(host.actor, scopes)
  const client = checkClientParts({ ...request, scopes, grants: request.grants ?? chooseDefaultGrants(request) }, [
    'password',
  ])
  const { name, grants, redirectUris } = client
  const parts = { scopes: client.scopes, grants, redirect_uris: redirectUris }
  return changeSystem(host, async (system, audit) => {
    const { id, secret } = await addClient(system, { ...client, user: owner.name })
    const after = { ...parts, user: owner.name, public: client.public }
    await audit({ action: 'client.add', subject: { id, name }, after })
    return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }), ...parts }
  })
}

/** Clients with redirect URIs use codes; those without act for their owner, which requires a secret. */
function chooseDefaultGrants({ redirectUris, public: isPublic }: Pick<NewClient, 'redirectUris' | 'public'>) {
  return [isPublic || redirectUris.length > 0 ? 'authorization_code' : 'client_credentials', 'refresh_token']
}

/** The properties to change; undefined ones stay the same. */
export interface ClientChange {
  readonly name?: string | undefined
  readonly redirectUris?: readonly string[] | undefined
  readonly scopes?: readonly string[] | undefined
  readonly grants?: readonly string[] | undefined
  readonly status?: ListedClient['status'] | undefined
}

export interface ClientSelection {
  /** Id or name. */
  readonly client: string
  /** Called with the locked client before the change. Throws if the client is not as the caller knows it. */
  check?(current: ListedClient): void
}

/**
 * Changes a client. Disabling it ends its tokens and subscriptions; its owner cannot undo that.
 * @throws WP_AUTH_CLIENT_NO_MATCH, WP_AUTH_CLIENT_AMBIGUOUS, WP_AUTH_CLIENT_BUILT_IN, WP_AUTH_CLIENT_NAME,
 * WP_AUTH_SCOPE_LACKED, WP_SERVER_GRANT, WP_SERVER_CONTROL, and the errors of `checkClientParts`
 */
export async function changeHostClient(
  host: ActingHost,
  { client, check, status, ...change }: ClientSelection & ClientChange,
  batches: Batches = {},
): Promise<{ client: ListedClient; ended: EndedAccess }> {
  const now = host.clock.now()
  const leaving: Leaving = { ...batches }
  const changed = await changeSystem(host, async (system, audit) => {
    const current = await lockClient(system, client)
    check?.(current)
    const { id } = current
    await changeParts({ host, system, audit, current }, change)
    let ended = nothingEnded
    // Disabling again ends access that was left, and bars a client that its owner disabled.
    if (status === 'disabled' || (status === 'active' && current.status !== 'active')) {
      ended = await setClientStatus(system, { id, status, now, leaving })
      const action = status === 'disabled' ? 'client.disable' : 'client.enable'
      await audit({ action, subject: current, before: { status: current.status }, after: { status, ...ended } })
    }
    return { client: await loadClient(system, id), ended }
  })
  await revokeHostRest(host, { clientId: changed.client.id }, leaving)
  return changed
}

interface ClientTarget {
  readonly host: ActingHost
  readonly system: System
  readonly audit: WriteAudit
  readonly current: ListedClient
}

async function changeParts({ host, system, audit, current }: ClientTarget, change: ClientChange): Promise<void> {
  const { name = current.name, scopes = current.scopes, grants = current.grants } = change
  const { redirectUris = current.redirectUris } = change
  const wanted = { name, scopes: scopes.toSorted(), grants, redirect_uris: redirectUris }
  const before = {
    name: current.name,
    scopes: current.scopes,
    grants: current.grants,
    redirect_uris: current.redirectUris,
  }
  if (isDeepStrictEqual(wanted, before)) return
  if (current.userId === null) throw authErrors.WP_AUTH_CLIENT_BUILT_IN({ client: current.id })
  const isTakeover = change.redirectUris !== undefined || change.grants !== undefined
  if (isTakeover) assertMayControl(host.actor, current)
  const parts = checkClientParts({ scopes, grants, redirectUris, public: current.isPublic }, ['password'])
  await assertMayHave(host, system, { current, added: parts.scopes.filter((scope) => !current.scopes.includes(scope)) })
  const stored = {
    ...(change.name === undefined ? {} : { name }),
    ...(change.scopes === undefined ? {} : { scopes: parts.scopes }),
    ...(change.grants === undefined ? {} : { grants: parts.grants }),
    ...(change.redirectUris === undefined ? {} : { redirectUris: parts.redirectUris }),
  }
  await setClientParts(system, current.id, stored)
  await audit({ action: 'client.change', subject: current, ...findDifference(before, wanted) })
}

/** Checks scopes that a client is given. */
async function assertMayHave(
  { actor }: ActingHost,
  { db }: System,
  { current, added }: { current: ListedClient; added: readonly string[] },
): Promise<void> {
  const owned = await loadUserScopes(db, current.userId ?? '')
  const missing = added.filter((scope) => !owned.includes(scope))
  if (missing.length > 0) {
    throw authErrors.WP_AUTH_SCOPE_LACKED({ user: current.user ?? '', scopes: missing.join(',') })
  }
  assertMayGrant(actor, added)
}

type Facts = Pick<AuditFacts, 'name' | 'scopes' | 'grants' | 'redirect_uris'>

/** Keeps the properties that differ. */
function findDifference(before: Facts, after: Facts): { before: Facts; after: Facts } {
  const names = (Object.keys(after) as (keyof Facts)[]).filter((name) => !isDeepStrictEqual(before[name], after[name]))
  const pick = (facts: Facts): Facts => Object.fromEntries(names.map((name) => [name, facts[name]]))
  return { before: pick(before), after: pick(after) }
}

/** Finds a client by id or name, and locks it until the end of the transaction. */
async function lockClient(system: System, idOrName: string): Promise<ListedClient> {
  const { id } = await resolveClient(system, idOrName)
  if (system.kind === 'postgresql') {
    await system.db.selectFrom('waypost_client').select('id').where('id', '=', id).forUpdate().execute()
  }
  return loadClient(system, id)
}

/**
 * Replaces the secret of a client, given by id or name.
 * @returns the secret, which cannot be shown again
 * @throws WP_SERVER_CONTROL, WP_AUTH_CLIENT_PUBLIC
 */
export async function renewHostClientSecret(
  host: ActingHost,
  idOrName: string,
  check?: ClientSelection['check'],
): Promise<{ client_id: string; client_secret: string; name: string }> {
  return changeSystem(host, async (system, audit) => {
    const current = await lockClient(system, idOrName)
    check?.(current)
    const { id, name } = current
    assertMayControl(host.actor, current)
    const secret = await renewClientSecret(system, { id, name })
    await audit({ action: 'client.secret', subject: { id, name } })
    return { client_id: id, client_secret: secret, name }
  })
}

/** Disables or enables a client, given by id or name. */
export async function changeHostClientStatus(
  host: ActingHost,
  request: { client: string; status: 'active' | 'disabled' },
  batches: Batches = {},
): Promise<EndedAccess & { client_id: string; name: string }> {
  const { client, ended } = await changeHostClient(host, request, batches)
  return { client_id: client.id, name: client.name, ...ended }
}
