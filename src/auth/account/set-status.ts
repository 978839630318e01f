import { recordChanges, type System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { loginClientId } from './clients.ts'
import { endAccess, nothingEnded, type EndedAccess } from './end-access.ts'

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
