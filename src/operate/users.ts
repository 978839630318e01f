import {
  addUser,
  addUserScopes,
  backendScopes,
  checkScopes,
  resolveUser,
  countPasswordlessAccess,
  isBackendScope,
  loadUserScopes,
  removeUserScopes,
  setPassword,
  setUserStatus,
  type EndedAccess,
  type PasswordChangeOptions,
} from '../auth/index.ts'
import { loadTerms, type Host } from '../host/index.ts'

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
  host: Host,
  request: UserRequest,
): Promise<{ id: string; name: string; scopes: readonly string[] }> {
  const { settings } = await loadTerms(host.system, host.variables)
  const defaults = settings.scopes_default.filter((scope) => !isBackendScope(scope))
  const scopes = checkScopes([...defaults, ...request.scopes, ...(request.admin ? backendScopes : [])])
  const user = await addUser(host.system, {
    name: request.name,
    scopes,
    ...(request.email === undefined ? {} : { email: request.email }),
    ...(request.password === undefined ? {} : { password: request.password }),
  })
  return { id: user.id, name: user.name, scopes }
}

/**
 * Adds and removes scopes of a user; tokens lose removed scopes immediately.
 * @returns the user's scopes after the change
 */
export async function changeHostUserScopes(
  host: Host,
  request: { name: string; add: readonly string[]; remove: readonly string[] },
): Promise<{ name: string; scopes: readonly string[] }> {
  const user = await resolveUser(host.system, request.name)
  await addUserScopes(host.system, user.id, checkScopes(request.add))
  await removeUserScopes(host.system, user.id, request.remove)
  return { name: user.name, scopes: await loadUserScopes(host.system.db, user.id) }
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
  { system, clock }: Host,
  { name, ...change }: { name: string; password: string; keepTokens: boolean } & PasswordChangeOptions,
): Promise<EndedAccess & { name: string }> {
  const user = await resolveUser(system, name)
  const ended = await setPassword(system, { userId: user.id, now: clock.now(), ...change })
  return { name: user.name, ...ended }
}

/** Disables or enables a user. */
export async function changeHostUserStatus(
  { system, clock }: Host,
  { name, status }: { name: string; status: 'active' | 'disabled' },
): Promise<EndedAccess & { name: string }> {
  const user = await resolveUser(system, name)
  return { name: user.name, ...(await setUserStatus(system, { id: user.id, status, now: clock.now() })) }
}
