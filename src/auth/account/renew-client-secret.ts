import { makeSecret, sha256 } from '../../kit/index.ts'
import { recordChanges, type System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { ClientRecord } from './clients.ts'

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
