import type { Transaction } from 'kysely'
import { makeSortedId } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import type { EventCatalog } from './catalog.ts'

const chunkSize = 1000

/**
 * Turns the oldest message that is not fanned out into deliveries, one chunk of subscriptions at a time; each chunk is
 * one transaction and the next goes on behind it, whoever does it.
 * @returns whether there was anything to do
 */
export async function fanOutChunk(system: System, catalog: EventCatalog): Promise<boolean> {
  return system.transaction(async (trx) => {
    const message = await trx
      .selectFrom('waypost_message')
      .select(['id', 'event', 'users', 'created_at', 'fan_cursor'])
      .where('fanned_out_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .limit(1)
      .$if(system.kind === 'postgresql', (query) => query.forUpdate().skipLocked())
      .executeTakeFirst()
    if (message === undefined) return false
    const subscriptions = await selectSubscribers(trx, message, catalog[message.event]?.scopes)
    if (subscriptions.length > 0) await insertDeliveries(system, trx, message.id, subscriptions)
    const done = subscriptions.length < chunkSize
    await trx
      .updateTable('waypost_message')
      .set(done ? { fanned_out_at: system.now() } : { fan_cursor: subscriptions.at(-1)! })
      .where('id', '=', message.id)
      .execute()
    return true
  })
}

interface FannedMessage {
  readonly event: string
  readonly users: string | null
  readonly created_at: number
  readonly fan_cursor: string | null
}

/** Active subscriptions that are older than the message, of active users who may receive it. */
async function selectSubscribers(
  trx: Transaction<SystemTables>,
  message: FannedMessage,
  scopes: readonly string[] | undefined,
): Promise<string[]> {
  let query = trx
    .selectFrom('waypost_subscription as subscription')
    .innerJoin('waypost_user as user', 'user.id', 'subscription.user_id')
    .select('subscription.id')
    .where('subscription.event', '=', message.event)
    .where('subscription.status', '=', 'active')
    .where('subscription.created_at', '<=', message.created_at)
    .where('user.status', '=', 'active')
    .orderBy('subscription.id')
    .limit(chunkSize)
  if (message.fan_cursor !== null) query = query.where('subscription.id', '>', message.fan_cursor)
  if (message.users !== null) query = query.where('subscription.user_id', 'in', JSON.parse(message.users) as string[])
  if (scopes !== undefined) {
    query = query.where((where) =>
      where.exists(
        where
          .selectFrom('waypost_user_scope as granted')
          .select('granted.scope')
          .whereRef('granted.user_id', '=', 'user.id')
          .where('granted.scope', 'in', scopes),
      ),
    )
  }
  return (await query.execute()).map((row) => row.id)
}

async function insertDeliveries(
  system: System,
  trx: Transaction<SystemTables>,
  messageId: string,
  subscriptions: readonly string[],
): Promise<void> {
  const now = Date.now()
  await trx
    .insertInto('waypost_delivery')
    .values(
      subscriptions.map((subscription) => ({
        id: makeSortedId('dlv_', now),
        message_id: messageId,
        subscription_id: subscription,
        status: 'pending' as const,
        due_at: system.now(),
        failures: 0,
        lost: 0,
        claim_id: null,
        lease_until: null,
        created_at: system.now(),
        finished_at: null,
      })),
    )
    .onConflict((on) => on.columns(['message_id', 'subscription_id']).doNothing())
    .execute()
}
