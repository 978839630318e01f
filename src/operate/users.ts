import {
  addUserScopes,
  backendScopes,
  checkScopes,
  resolveUser,
  countPasswordlessAccess,
  hashNewPassword,
  insertUser,
  isBackendScope,
  loadUserScopes,
  prepareUser,
  removeUserScopes,
  setUserStatus,
  storePassword,
  type EndedAccess,
  type PasswordChangeOptions,
} from '../auth/index.ts'
import { loadTerms, type Host } from '../host/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'

export interface UserRequest {
  readonly name: string
  readonly email?: string | undefined
  readonly password?: string | undefined
  /** In addition to the default scopes of new users. */
  readonly scopes: readonly string[]
  /** Grant all scopes of administration. */
  readonly admin: boolean
}

/** Adds a user with the default scopes and those requested. Scopes of administration are never granted by default. */
export async function addHostUser(
  host: ActingHost,
  request: UserRequest,
): Promise<{ id: string; name: string; scopes: readonly string[] }> {
  const { settings } = await loadTerms(host.system, host.variables)
  const defaults = settings.scopes_default.filter((scope) => !isBackendScope(scope))
  const scopes = checkScopes([...defaults, ...request.scopes, ...(request.admin ? backendScopes : [])])
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

/**
 * Adds and removes scopes of a user; tokens lose removed scopes immediately.
 * @returns the user's scopes after the change
 */
export async function changeHostUserScopes(
  host: ActingHost,
  request: { name: string; add: readonly string[]; remove: readonly string[] },
): Promise<{ name: string; scopes: readonly string[] }> {
  const { id, name } = await resolveUser(host.system, request.name)
  if (request.add.length === 0 && request.remove.length === 0) {
    return { name, scopes: await loadUserScopes(host.system.db, id) }
  }
  return changeSystem(host, async (system, audit) => {
    const before = await loadUserScopes(system.db, id)
    await addUserScopes(system, id, checkScopes(request.add))
    await removeUserScopes(system, id, request.remove)
    const scopes = await loadUserScopes(system.db, id)
    await audit({ action: 'user.scopes', subject: { id, name }, before: { scopes: before }, after: { scopes } })
    return { name, scopes }
  })
}

/** Counts what `endClients` and `endSubscriptions` of a password change would end. */
export async function countHostPasswordlessAccess(
  { system }: Host,
  name: string,
): Promise<Pick<EndedAccess, 'clients' | 'subscriptions'>> {
  return countPasswordlessAccess(system.db, (await resolveUser(system, name)).id)
}

/** Changes the password of a user and ends all access that used the old one. */
export async function changeHostUserPassword(
  host: ActingHost,
  { password, ...change }: { name: string; password: string; keepTokens: boolean } & PasswordChangeOptions,
): Promise<EndedAccess & { name: string }> {
  const { id, name } = await resolveUser(host.system, change.name)
  const passwordHash = await hashNewPassword(host.system, id, password)
  return changeSystem(host, async (system, audit) => {
    const ended = await storePassword(system, { ...change, userId: id, passwordHash, now: host.clock.now() })
    await audit({ action: 'user.password', subject: { id, name }, after: ended })
    return { name, ...ended }
  })
}

/** Disables or enables a user. */
export async function changeHostUserStatus(
  host: ActingHost,
  { status, ...request }: { name: string; status: 'active' | 'disabled' },
): Promise<EndedAccess & { name: string }> {
  return changeSystem(host, async (system, audit) => {
    const { id, name, status: before } = await resolveUser(system, request.name)
    const ended = await setUserStatus(system, { id, status, now: host.clock.now() })
    const action = status === 'disabled' ? 'user.disable' : 'user.enable'
    await audit({ action, subject: { id, name }, before: { status: before }, after: { status, ...ended } })
    return { name, ...ended }
  })
}
