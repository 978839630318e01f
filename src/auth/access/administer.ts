import { recordChanges, type System, type SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { assertClientName } from '../account/client-name.ts'
import { loginClientId, storeClientParts, type ClientRecord, type NewClient } from '../account/clients.ts'
import {
  endAccess,
  nothingEnded,
  type EndedAccess,
  sumEnded,
  endAccessRows,
  endPasswordlessAccess,
  type PasswordChangeOptions,
} from './end-access.ts'
import type { Leaving } from './revoke-in-batches.ts'
import type { Transaction } from 'kysely'
import { hashPassword } from '../account/passwords.ts'
import { revokeInTransaction } from '../token/revoke.ts'
import { resetAttempts } from '../account/throttle.ts'
import { makeSecret, sha256 } from '../../kit/index.ts'

export interface StatusChange {
  readonly id: string
  readonly status: 'active' | 'disabled'
  readonly now: number
  /** See `EndAccessRequest`. */
  readonly leaving?: Leaving | undefined
}

/**
 * Changes the status of a user. Disabling also revokes all access, so that stolen tokens stay invalid if the user is
 * enabled again. Every server applies it within a second.
 */
export async function setUserStatus(system: System, { id, status, now, leaving }: StatusChange): Promise<EndedAccess> {
  return system.transaction(async (trx) => {
    await trx.updateTable('waypost_user').set({ status }).where('id', '=', id).execute()
    if (status === 'disabled') return endAccess(system, trx, { of: { userId: id }, now, leaving })
    // What is left if the disabling was interrupted.
    await revokeInTransaction(system, trx, { which: { userId: id }, now })
    return nothingEnded
  })
}

/**
 * Changes the status of a client. Disabling also disables its subscriptions; its owner cannot undo it.
 * @throws WP_AUTH_CLIENT_BUILT_IN
 */
export async function setClientStatus(
  system: System,
  { id, status, now, leaving }: StatusChange,
): Promise<EndedAccess> {
  if (id === loginClientId) throw errors.WP_AUTH_CLIENT_BUILT_IN({ client: id })
  return system.transaction(async (trx) => {
    await trx.updateTable('waypost_client').set({ status, disabled_by: null }).where('id', '=', id).execute()
    const end = { of: { clientId: id }, now, leaving, subscriptions: 'disabled' } as const
    if (status === 'disabled') return endAccess(system, trx, end)
    await revokeInTransaction(system, trx, { which: { clientId: id }, now })
    return nothingEnded
  })
}

/**
 * Changes parts of a client that were checked with `checkClientParts`. Tokens lose removed scopes immediately.
 * @throws WP_AUTH_CLIENT_NAME
 */
export async function setClientParts(
  system: System,
  id: string,
  parts: Partial<Pick<NewClient, 'name' | 'grants' | 'redirectUris' | 'scopes'>>,
): Promise<void> {
  if (parts.name !== undefined) assertClientName(parts.name)
  await system.transaction(async (trx) => {
    await storeClientParts(trx, id, parts)
    await recordChanges(system, trx, [{ kind: 'client', subject: id }])
  })
}

export interface PasswordChange extends PasswordChangeOptions {
  readonly userId: string
  readonly password: string
  readonly now: number
  /** Keep tokens valid. Sessions end in any case. */
  readonly keepTokens: boolean
  /** See `EndAccessRequest`. */
  readonly leaving?: Leaving | undefined
}

/**
 * Sets a user's password on behalf of an administrator.
 * @throws WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME, WP_AUTH_BUSY
 */
export async function setPassword(system: System, { password, ...change }: PasswordChange): Promise<EndedAccess> {
  return storePassword(system, { ...change, passwordHash: await hashNewPassword(system, change.userId, password) })
}

/** Checks and hashes a new password, which must not happen in a transaction. Throws like `setPassword`. */
export async function hashNewPassword(system: System, userId: string, password: string): Promise<string> {
  const { name, email } = await system.db
    .selectFrom('waypost_user')
    .select(['name', 'email'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  return hashPassword(system, { name, email, password })
}

/** Stores the hash of a new password and ends the access that used the old one. */
export async function storePassword(
  system: System,
  { passwordHash, ...change }: Omit<PasswordChange, 'password'> & { readonly passwordHash: string },
): Promise<EndedAccess> {
  const { userId, now, leaving } = change
  return system.transaction(async (trx) => {
    const { name } = await trx
      .updateTable('waypost_user')
      .set({ password_hash: passwordHash })
      .where('id', '=', userId)
      .returning('name')
      .executeTakeFirstOrThrow()
    await resetAttempts(trx, name)
    const passwordless = await endPasswordlessAccess(system, trx, change)
    const access = change.keepTokens
      ? await endSessionsOnly(trx, userId)
      : await endAccessRows(system, trx, { of: { userId }, now, leaving })
    await recordChanges(system, trx, [{ kind: 'user', subject: userId }, ...passwordless.changes])
    return sumEnded(access, passwordless.ended)
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
 * Replaces a client's secret. The old secret stops working immediately; existing tokens stay valid.
 * @returns the secret, which is not stored and cannot be shown again
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
