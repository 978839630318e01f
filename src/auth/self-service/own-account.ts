import { isReservedName } from '../account/client-name.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { loadUserScopes, addUser, assertUserName, isNameTaken, lockUser } from '../account/users.ts'
import { isWaypostError } from '../../kit/index.ts'
import { lockToken } from '../token/lock-token.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { assertPasswordRules } from '../account/passwords.ts'
import { isBackendScope } from '../account/scopes.ts'
import { countRegistration } from '../account/throttle.ts'

/** An account as its user sees it. */
export interface OwnAccount {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export async function loadAccount({ db }: System, userId: string): Promise<OwnAccount> {
  const row = await db
    .selectFrom('waypost_user')
    .select(['id', 'name', 'email', 'created_at'])
    .where('id', '=', userId)
    .executeTakeFirst()
  if (row === undefined) throw errors.WP_AUTH_LOGIN() // removed after the guard's check
  const { created_at: createdAt, ...account } = row
  return { ...account, scopes: await loadUserScopes(db, userId), createdAt }
}

/**
 * Changes the email address of the caller.
 * @throws WP_AUTH_TOKEN
 */
export async function changeOwnEmail(
  issuer: TokenIssuer,
  { id, jti }: { id: string; jti: string },
  email: string | null,
): Promise<void> {
  await issuer.system.transaction(async (trx) => {
    await lockUser(issuer.system, trx, id)
    await lockToken(issuer, trx, jti)
    await changeEmail({ db: trx }, id, email)
  })
}

export async function changeEmail({ db }: Pick<System, 'db'>, userId: string, email: string | null): Promise<void> {
  await db.updateTable('waypost_user').set({ email }).where('id', '=', userId).execute()
}

export interface Registration {
  readonly name: string
  readonly password: string
  readonly email?: string | undefined
  /** The address of the caller. */
  readonly address: string
}

/**
 * Registers a user with the scopes of the setting `scopes_default`. All unavailable names get the same error, so that
 * it reveals nothing about existing users.
 * @throws WP_AUTH_NAME, WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME, WP_AUTH_REGISTRATIONS, WP_AUTH_NAME_TAKEN,
 * WP_AUTH_BUSY
 */
export async function registerUser(issuer: TokenIssuer, asked: Registration): Promise<OwnAccount> {
  const { system, clock } = issuer
  const { name, password, email, address } = asked
  assertUserName(name)
  assertPasswordRules(asked)
  await countRegistration(system, clock, address)
  // The consent page shows the name of a client's owner.
  if (isReservedName(name) || (await isNameTaken(system.db, name))) throw errors.WP_AUTH_NAME_TAKEN() // check before hashing
  const scopes = issuer.settings().scopes_default.filter((scope) => !isBackendScope(scope))
  try {
    const user = { name, password, scopes, rejectSimilarName: true, ...(email === undefined ? {} : { email }) }
    const { id } = await addUser(system, user)
    return await loadAccount(system, id)
  } catch (error) {
    if (!isWaypostError(error) || error.code !== 'WP_AUTH_USER_EXISTS') throw error
    throw errors.WP_AUTH_NAME_TAKEN({}, { cause: error })
  }
}
