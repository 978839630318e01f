import type { Transaction } from 'kysely'
import { recordChanges, type System, type SystemTables } from '../../store/index.ts'
import {
  addEnded,
  endAccessRows,
  endStanding,
  nothingEnded,
  type EndedAccess,
  type PasswordEnds,
} from './end-access.ts'
import { hashPassword } from './passwords.ts'
import { forgetAttempts } from './throttle.ts'

export interface PasswordChange extends PasswordEnds {
  readonly userId: string
  readonly password: string
  readonly now: number
  /** Leave tokens as they are; sessions end all the same. */
  readonly keepTokens: boolean
}

/** Gives a user another password, as whoever administers does. @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_BUSY */
export async function setPassword(system: System, change: PasswordChange): Promise<EndedAccess> {
  const { userId, now } = change
  const password_hash = await hashPassword(system, change.password)
  return system.transaction(async (trx) => {
    const user = trx.updateTable('waypost_user').set({ password_hash }).where('id', '=', userId)
    const { name } = await user.returning('name').executeTakeFirstOrThrow()
    await forgetAttempts(trx, name)
    const standing = await endStanding(system, trx, change)
    const access = change.keepTokens
      ? await endSessionsOnly(trx, userId)
      : await endAccessRows(system, trx, { of: { userId }, now })
    await recordChanges(system, trx, [{ kind: 'user', subject: userId }, ...standing.changes])
    return addEnded(access, standing.ended)
  })
}

async function endSessionsOnly(trx: Transaction<SystemTables>, userId: string): Promise<EndedAccess> {
  const { numDeletedRows } = await trx
    .deleteFrom('waypost_session')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return { ...nothingEnded, sessions: Number(numDeletedRows) }
}
