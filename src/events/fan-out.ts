import type { Transaction } from 'kysely'
import { makeSortedId } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { findEvent, type EventCatalog } from './catalog.ts'
import { texts } from './work.ts'

/** Deliveries at most that one transaction makes. */
const chunkSize = 1000
const mostMessages = 100

/**
 * Turns the oldest messages into deliveries, a chunk in one transaction; what is left of a message goes on behind the
 * last subscription of the chunk, whoever does it.
 * @returns whether there was anything to do that nobody else has in hand
 */
export async function fanOutChunk(system: System, catalog: EventCatalog): Promise<boolean> {
  return system.transaction(async (trx) => {
    const messages = await selectMessages(system, trx, catalog)
    let room = chunkSize
    for (const message of messages) {
      if (room === 0) break
      const subscriptions = await selectSubscribers(system, trx, { message, catalog, limit: room })
      await insertDeliveries(system, trx, { message, subscriptions })
      const done = subscriptions.length < room
      await trx
        .updateTable('waypost_message')
        .set(done ? { fanned_out_at: system.now() } : { fan_cursor: subscriptions.at(-1)! })
        .where('id', '=', message.id)
        .execute()
      room -= subscriptions.length
    }
    return messages.length > 0
  })
}

interface WaitingMessage {
  readonly id: string
  readonly event: string
  readonly users: string | null
  readonly created_at: number
  readonly fan_cursor: string | null
}

function selectMessages(
  system: System,
  trx: Transaction<SystemTables>,
  catalog: EventCatalog,
): Promise<readonly WaitingMessage[]> {
  return trx
    .selectFrom('waypost_message')
    .select(['id', 'event', 'users', 'created_at', 'fan_cursor'])
    .where('fanned_out_at', 'is', null)
    .where('event', 'in', texts(system, JSON.stringify(Object.keys(catalog))))
    .orderBy('created_at')
    .orderBy('id')
    .limit(mostMessages)
    .$if(system.kind === 'postgresql', (query) => query.forUpdate().skipLocked())
    .execute()
}

/** Active subscriptions that are older than the message, of active users who may receive it. */
async function selectSubscribers(
  system: System,
  trx: Transaction<SystemTables>,
  { message, catalog, limit }: { message: WaitingMessage; catalog: EventCatalog; limit: number },
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
    .limit(limit)
  if (message.fan_cursor !== null) query = query.where('subscription.id', '>', message.fan_cursor)
  if (message.users !== null) query = query.where('subscription.user_id', 'in', texts(system, message.users))
  const { scopes = [] } = findEvent(catalog, message.event) ?? {}
  if (scopes.length > 0) {
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
  { message, subscriptions }: { message: WaitingMessage; subscriptions: readonly string[] },
): Promise<void> {
  if (subscriptions.length === 0) return
  await trx
    .insertInto('waypost_delivery')
    .values(
      subscriptions.map((subscription) => ({
        id: makeSortedId('dlv_', message.created_at),
        message_id: message.id,
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
