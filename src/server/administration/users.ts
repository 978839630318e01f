import {
  addUser,
  addUserScopes,
  backendScopes,
  checkScopes,
  findUser,
  loadUserScopes,
  removeUserScopes,
} from '../../auth/index.ts'
import { loadTerms } from '../active-release.ts'
import type { Host } from '../host.ts'

export interface UserRequest {
  readonly name: string
  readonly email?: string | undefined
  readonly password?: string | undefined
  /** Beside those that every new user gets. */
  readonly scopes: readonly string[]
  /** Gives every scope of administration. */
  readonly admin: boolean
}

/** Adds a user with the default scopes and those given. */
export async function addHostUser(
  host: Host,
  request: UserRequest,
): Promise<{ id: string; name: string; scopes: readonly string[] }> {
  const { settings } = await loadTerms(host.system, host.variables)
  const scopes = checkScopes([...settings.scopes_default, ...request.scopes, ...(request.admin ? backendScopes : [])])
  const user = await addUser(host.system, {
    name: request.name,
    scopes,
    ...(request.email === undefined ? {} : { email: request.email }),
    ...(request.password === undefined ? {} : { password: request.password }),
  })
  return { id: user.id, name: user.name, scopes }
}

/** Gives a user scopes and takes some away; its tokens lose those at once. @returns what it has afterwards */
export async function changeHostUserScopes(
  host: Host,
  request: { name: string; add: readonly string[]; remove: readonly string[] },
): Promise<{ name: string; scopes: readonly string[] }> {
  const user = await findUser(host.system, request.name)
  await addUserScopes(host.system, user.id, checkScopes(request.add))
  await removeUserScopes(host.system, user.id, request.remove)
  return { name: user.name, scopes: await loadUserScopes(host.system.db, user.id) }
}
