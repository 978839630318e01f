import { isWaypostError } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { loadAccount, type OwnAccount } from './own-account.ts'
import { assertPasswordForm } from './passwords.ts'
import { isBackendScope } from './scopes.ts'
import { countRegistration } from './throttle-registration.ts'
import { addUser, assertUserName, isNameTaken } from './users.ts'

export interface Registration {
  readonly name: string
  readonly password: string
  readonly email?: string | undefined
  /** Where the request comes from. */
  readonly address: string
}

/**
 * Adds somebody who registers himself, with the scopes of the setting `scopes_default`. One answer for every name that
 * cannot be had says no more of the one who has it.
 * @throws WP_AUTH_NAME, WP_AUTH_PASSWORD_WEAK, WP_AUTH_REGISTRATIONS, WP_AUTH_NAME_TAKEN, WP_AUTH_BUSY
 */
export async function registerUser(issuer: TokenIssuer, asked: Registration): Promise<OwnAccount> {
  const { system, clock } = issuer
  const { name, password, email, address } = asked
  assertUserName(name)
  assertPasswordForm(password)
  await countRegistration(system, clock, address)
  if (await isNameTaken(system.db, name)) throw errors.WP_AUTH_NAME_TAKEN() // before it costs a hash
  const scopes = issuer.settings().scopes_default.filter((scope) => !isBackendScope(scope))
  try {
    const user = { name, password, scopes, isUnlikeOthers: true, ...(email === undefined ? {} : { email }) }
    const { id } = await addUser(system, user)
    return await loadAccount(system, id)
  } catch (error) {
    if (!isWaypostError(error) || error.code !== 'WP_AUTH_USER_EXISTS') throw error
    throw errors.WP_AUTH_NAME_TAKEN({}, { cause: error })
  }
}
