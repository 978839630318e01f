import { isWaypostError } from '../../kit/index.ts'
import { recordChanges } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { lockToken } from '../token/lock-token.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { revokeRest, revokeUnlessMany, type Leaving } from '../access/revoke-in-batches.ts'
import { endPasswordlessAccess, type PasswordChangeOptions } from '../access/end-access.ts'
import { verifyAttempt, assertPasswordUnchanged } from '../access/login.ts'
import { assertPasswordRules, hashPassword } from '../account/passwords.ts'
import type { VerifiedUser } from '../account/users.ts'

export interface OwnPasswordChange extends PasswordChangeOptions {
  readonly name: string
  readonly old: string
  readonly new: string
  /** The address of the caller. */
  readonly address: string
  /** The caller's token. It and its family stay valid. */
  readonly jti: string
}

/**
 * Changes a password; requires the old one and is throttled like a login. Ends all other access: tokens, families,
 * sessions and unredeemed codes. The user's own clients and subscriptions stay active unless the change ends them.
 * @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME, WP_AUTH_OLD_PASSWORD, WP_AUTH_TOKEN, WP_AUTH_THROTTLED, WP_AUTH_BUSY
 */
export async function changePassword(issuer: TokenIssuer, change: OwnPasswordChange): Promise<void> {
  assertPasswordRules({ name: change.name, password: change.new })
  try {
    const user = await verifyAttempt(issuer, { ...change, password: change.old })
    await replacePassword(issuer, user, change)
  } catch (error) {
    if (!isWaypostError(error) || error.code !== 'WP_AUTH_LOGIN') throw error
    throw errors.WP_AUTH_OLD_PASSWORD({}, { cause: error }) // not 401, because the caller's token is valid
  }
  await issuer.applyChanges()
}

async function replacePassword(issuer: TokenIssuer, user: VerifiedUser, change: OwnPasswordChange): Promise<void> {
  const { system, clock } = issuer
  const now = clock.now()
  const password_hash = await hashPassword(system, { name: user.name, email: user.email, password: change.new })
  const { jti } = change
  const leaving: Leaving = {}
  const rows = await system.transaction(async (trx) => {
    await assertPasswordUnchanged(system, trx, user)
    await trx.updateTable('waypost_user').set({ password_hash }).where('id', '=', user.id).execute()
    await trx.deleteFrom('waypost_session').where('user_id', '=', user.id).execute()
    await trx.deleteFrom('waypost_code').where('user_id', '=', user.id).where('used_at', 'is', null).execute()
    const own = await trx.selectFrom('waypost_token').select('family_id').where('jti', '=', jti).executeTakeFirst()
    const rows = { of: { userId: user.id }, now, except: { jti, familyId: own?.family_id ?? null } }
    await revokeUnlessMany(trx, rows, leaving)
    await lockToken(issuer, trx, jti) // tokens after families, as everywhere
    const { changes } = await endPasswordlessAccess(system, trx, { ...change, userId: user.id, now })
    await recordChanges(system, trx, [{ kind: 'user', subject: user.id }, ...changes])
    return rows
  })
  await revokeRest(system, rows, leaving)
}
