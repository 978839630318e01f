import { recordChanges, type System } from '../../store/index.ts'
import { endAccess, type EndedAccess } from './end-access.ts'
import { hashPassword } from './passwords.ts'
import { forgetAttempts } from './throttle.ts'

export interface PasswordChange {
  readonly userId: string
  readonly password: string
  readonly now: number
  /** Leave tokens as they are; sessions end all the same. */
  readonly keepTokens: boolean
}

/** Gives a user another password, as whoever administers does. @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_BUSY */
export async function setPassword(system: System, change: PasswordChange): Promise<EndedAccess> {
  const { userId, now } = change
  const password_hash = await hashPassword(change.password)
  return system.transaction(async (trx) => {
    const user = trx.updateTable('waypost_user').set({ password_hash }).where('id', '=', userId)
    const { name } = await user.returning('name').executeTakeFirstOrThrow()
    await forgetAttempts(trx, name)
    if (!change.keepTokens) return endAccess(system, trx, { of: { userId }, now })
    const { numDeletedRows } = await trx
      .deleteFrom('waypost_session')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    await recordChanges(system, trx, [{ kind: 'user', subject: userId }])
    return { tokens: 0, sessions: Number(numDeletedRows) }
  })
}
