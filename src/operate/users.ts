import {
  addUserScopes,
  backendScopes,
  changeEmail as setEmail,
  checkScopes,
  resolveUser,
  countPasswordlessAccess,
  hashNewPassword,
  insertUser,
  isBackendScope,
  loadUserScopes,
  lockUser,
  nothingEnded,
  prepareUser,
  removeUserScopes,
  setUserStatus,
  storePassword,
  type Batches,
  type EndedAccess,
  type Leaving,
  type PasswordChangeOptions,
} from '../auth/index.ts'
import type { Settings } from '../kit/index.ts'
import { loadTerms, type Host } from '../host/index.ts'
import type { System } from '../store/index.ts'
import { assertMayControl, assertMayGrant, checkAdministrators, lockAdministrators } from './access-rules.ts'
import { changeSystem, revokeHostRest, type ActingHost, type WriteAudit } from './change-system.ts'
import { loadUser, type ListedUser } from './lists.ts'

export interface UserRequest {
  readonly name: string
  readonly email?: string | undefined
  readonly password?: string | undefined
  readonly scopes: readonly string[]
  /** Whether the user gets only `scopes`, without the default scopes of new users. */
  readonly isExact?: boolean | undefined
  /** Grant all scopes of administration. */
  readonly admin: boolean
}

/**
 * Adds a user with the requested scopes and, unless they are exact, the default ones. Scopes of administration are never granted by default.
 * @throws WP_SERVER_GRANT, and the errors of `prepareUser` and `insertUser`
 */
export async function addHostUser(
  host: ActingHost,
  request: UserRequest,
): Promise<{ id: string; name: string; scopes: readonly string[] }> {
  const defaults = request.isExact === true ? [] : defaultUserScopes((await loadTerms(host)).settings)
  const scopes = checkScopes([...defaults, ...request.scopes, ...(request.admin ? backendScopes : [])])
  assertMayGrant(host.actor, scopes)
  const { email, password } = request
  const prepared = await prepareUser(host.system, {
    name: request.name,
    scopes,
    ...(email === undefined ? {} : { email }),
    ...(password === undefined ? {} : { password }),
  })
  return changeSystem(host, async (system, audit) => {
    const { id, name } = await insertUser(system, prepared)
    await audit({ action: 'user.add', subject: { id, name }, after: { email, scopes } })
    return { id, name, scopes }
  })
}

/** The scopes of new users, without those of administration. */
export function defaultUserScopes({ scopes_default: scopes }: Pick<Settings, 'scopes_default'>): readonly string[] {
  return scopes.filter((scope) => !isBackendScope(scope))
}

/** The properties to change; undefined ones stay the same. */
export interface UserChange {
  readonly email?: string | null | undefined
  /** All scopes after the change. Tokens lose removed ones immediately. */
  readonly scopes?: readonly string[] | undefined
  readonly status?: ListedUser['status'] | undefined
}

export interface UserSelection {
  /** Name or id. */
  readonly user: string
  /** Called with the locked user before the change. Throws if the user is not as the caller knows it. */
  check?(current: ListedUser): void
}

export interface ChangedUser {
  readonly user: ListedUser
  readonly ended: EndedAccess
  /** Whether no active user has `backend.admin` any more. Only commands may do that. */
  readonly isLastAdministrator: boolean
}

/**
 * Changes a user. Disabling ends all access; every server applies it within a second.
 * @throws WP_AUTH_USER_UNKNOWN, WP_AUTH_SCOPE_NAME, WP_SERVER_GRANT, WP_SERVER_LAST_ADMINISTRATOR
 */
export async function changeHostUser(
  host: ActingHost,
  change: UserSelection & UserChange,
  batches: Batches = {},
): Promise<ChangedUser> {
  const leaving: Leaving = { ...batches }
  const changed = await applyChange(host, { ...change, leaving }, () => change)
  await revokeHostRest(host, { userId: changed.user.id }, leaving)
  return changed
}

async function applyChange(
  host: ActingHost,
  { user, check, leaving }: UserSelection & { readonly leaving?: Leaving },
  make: (current: ListedUser) => UserChange,
): Promise<ChangedUser> {
  return changeSystem(host, async (system, audit) => {
    const { id, name } = await resolveUser(system, user)
    const found = await loadUser(system, id)
    // Before the lock of the user, so that two changes of administrators do not wait for each other.
    const before = mayRemoveAdministrator(found, make(found)) ? await lockAdministrators(system) : []
    await system.transaction((trx) => lockUser(system, trx, id))
    const current = await loadUser(system, id)
    check?.(current)
    const change = make(current)
    const target = { host, system, audit, current, leaving }
    await changeEmail(target, change)
    await changeScopes(target, change)
    const ended = await changeStatus(target, change)
    const isLastAdministrator = await checkAdministrators(system, host.actor, { name, before })
    return { user: await loadUser(system, id), ended, isLastAdministrator }
  })
}

function mayRemoveAdministrator({ scopes }: ListedUser, change: UserChange): boolean {
  if (!scopes.includes('backend.admin')) return false
  return change.status === 'disabled' || change.scopes?.includes('backend.admin') === false
}

interface ChangeTarget {
  readonly host: ActingHost
  readonly system: System
  readonly audit: WriteAudit
  readonly current: ListedUser
  readonly leaving: Leaving | undefined
}

async function changeEmail({ system, audit, current }: ChangeTarget, { email }: UserChange): Promise<void> {
  if (email === undefined || email === current.email) return
  await setEmail(system, current.id, email)
  await audit({ action: 'user.change', subject: current, before: { email: current.email }, after: { email } })
}

async function changeScopes(target: ChangeTarget, { scopes: wanted }: UserChange): Promise<void> {
  if (wanted === undefined) return
  const { host, system, audit, current } = target
  const scopes = checkScopes(wanted).toSorted()
  const added = scopes.filter((scope) => !current.scopes.includes(scope))
  const removed = current.scopes.filter((scope) => !scopes.includes(scope))
  if (added.length + removed.length === 0) return
  assertMayGrant(host.actor, added)
  await addUserScopes(system, current.id, added)
  await removeUserScopes(system, current.id, removed)
  await audit({ action: 'user.scopes', subject: current, before: { scopes: current.scopes }, after: { scopes } })
}

async function changeStatus(
  { host, system, audit, current, leaving }: ChangeTarget,
  { status }: UserChange,
): Promise<EndedAccess> {
  // Disabling again ends access that was left.
  if (status === undefined || (status === 'active' && current.status === 'active')) return nothingEnded
  const ended = await setUserStatus(system, { id: current.id, status, now: host.clock.now(), leaving })
  await audit({
    action: status === 'disabled' ? 'user.disable' : 'user.enable',
    subject: current,
    before: { status: current.status },
    after: { status, ...ended },
  })
  return ended
}

/**
 * Adds and removes scopes of a user; tokens lose removed scopes immediately.
 * @returns the user's scopes after the change
 */
export async function changeHostUserScopes(
  host: ActingHost,
  { name, add, remove }: { name: string; add: readonly string[]; remove: readonly string[] },
): Promise<{ name: string; scopes: readonly string[]; isLastAdministrator: boolean }> {
  if (add.length === 0 && remove.length === 0) {
    const user = await resolveUser(host.system, name)
    return { name: user.name, scopes: await loadUserScopes(host.system.db, user.id), isLastAdministrator: false }
  }
  const added = checkScopes(add)
  const { user, isLastAdministrator } = await applyChange(host, { user: name }, ({ scopes }) => ({
    scopes: [...new Set([...scopes, ...added])].filter((scope) => !remove.includes(scope)),
  }))
  return { name: user.name, scopes: user.scopes, isLastAdministrator }
}

/** Counts what `endClients` and `endSubscriptions` of a password change would end. */
export async function countHostPasswordlessAccess(
  { system }: Host,
  name: string,
): Promise<Pick<EndedAccess, 'clients' | 'subscriptions'>> {
  return countPasswordlessAccess(system.db, (await resolveUser(system, name)).id)
}

/**
 * Changes the password of a user and ends all access that used the old one.
 * @throws WP_SERVER_CONTROL, and the errors of passwords
 */
export async function changeHostUserPassword(
  host: ActingHost,
  { password, ...change }: { name: string; password: string; keepTokens: boolean } & PasswordChangeOptions,
  batches: Batches = {},
): Promise<EndedAccess & { name: string }> {
  const { id, name } = await resolveUser(host.system, change.name)
  assertMayControl(host.actor, { name, scopes: await loadUserScopes(host.system.db, id) })
  const passwordHash = await hashNewPassword(host.system, id, password)
  const now = host.clock.now()
  const leaving: Leaving = { ...batches }
  const changed = await changeSystem(host, async (system, audit) => {
    await system.transaction((trx) => lockUser(system, trx, id))
    assertMayControl(host.actor, { name, scopes: await loadUserScopes(system.db, id) }) // again: hashing takes time
    const ended = await storePassword(system, { ...change, userId: id, passwordHash, now, leaving })
    await audit({ action: 'user.password', subject: { id, name }, after: ended })
    return { name, ...ended }
  })
  await revokeHostRest(host, { userId: id }, leaving)
  return changed
}

/** Disables or enables a user. */
export async function changeHostUserStatus(
  host: ActingHost,
  { name, status }: { name: string; status: 'active' | 'disabled' },
  batches: Batches = {},
): Promise<EndedAccess & { name: string; isLastAdministrator: boolean }> {
  const { user, ended, isLastAdministrator } = await changeHostUser(host, { user: name, status }, batches)
  return { name: user.name, ...ended, isLastAdministrator }
}
