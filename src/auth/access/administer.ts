import { recordChanges, type System, type SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { loginClientId, type ClientRecord } from '../account/clients.ts'
import {
  endAccess,
  nothingEnded,
  type EndedAccess,
  addEnded,
  endAccessRows,
  endStanding,
  type PasswordEnds,
} from './end-access.ts'
import type { Transaction } from 'kysely'
import { hashPassword } from '../account/passwords.ts'
import { forgetAttempts } from '../account/throttle.ts'
import { makeSecret, sha256 } from '../../kit/index.ts'

export interface StatusChange {
  readonly id: string
  readonly status: 'active' | 'disabled'
  readonly now: number
}

/**
 * Disables a user, whose access ends with it: what was stolen does not come back to life when the user is enabled
 * again. Every server refuses it within a second.
 */
export async function setUserStatus(system: System, { id, status, now }: StatusChange): Promise<EndedAccess> {
  return system.transaction(async (trx) => {
    await trx.updateTable('waypost_user').set({ status }).where('id', '=', id).execute()
    if (status === 'disabled') return endAccess(system, trx, { of: { userId: id }, now })
    await recordChanges(system, trx, [{ kind: 'user', subject: id }])
    return nothingEnded
  })
}

/** The same of a client, whose subscriptions are disabled too; its owner cannot undo it. @throws WP_AUTH_CLIENT_BUILT_IN */
export async function setClientStatus(system: System, { id, status, now }: StatusChange): Promise<EndedAccess> {
  if (id === loginClientId) throw errors.WP_AUTH_CLIENT_BUILT_IN({ client: id })
  return system.transaction(async (trx) => {
    await trx.updateTable('waypost_client').set({ status, disabled_by: null }).where('id', '=', id).execute()
    if (status === 'disabled') return endAccess(system, trx, { of: { clientId: id }, now, subscriptions: 'disabled' })
    await recordChanges(system, trx, [{ kind: 'client', subject: id }])
    return nothingEnded
  })
}

export interface PasswordChange extends PasswordEnds {
  readonly userId: string
  readonly password: string
  readonly now: number
  /** Leave tokens as they are; sessions end all the same. */
  readonly keepTokens: boolean
}

/** Gives a user another password, as whoever administers does. @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME, WP_AUTH_BUSY */
export async function setPassword(system: System, change: PasswordChange): Promise<EndedAccess> {
  const { userId, now } = change
  const { name, email } = await system.db
    .selectFrom('waypost_user')
    .select(['name', 'email'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const password_hash = await hashPassword(system, { name, email, password: change.password })
  return system.transaction(async (trx) => {
    await trx.updateTable('waypost_user').set({ password_hash }).where('id', '=', userId).execute()
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

/**
 * Gives a client another secret; the one before stops at once, tokens that were issued go on.
 * @returns the secret, this once
 * @throws WP_AUTH_CLIENT_PUBLIC
 */
export async function renewClientSecret(
  system: System,
  { id, name }: Pick<ClientRecord, 'id' | 'name'>,
): Promise<string> {
  const secret = makeSecret()
  await system.transaction(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('waypost_client')
      .set({ secret_hash: sha256(secret) })
      .where('id', '=', id)
      .where('secret_hash', 'is not', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw errors.WP_AUTH_CLIENT_PUBLIC({ client: name })
    await recordChanges(system, trx, [{ kind: 'client', subject: id }])
  })
  return secret
}
