import { sql } from 'kysely'
import { cancelAllPending, endAllWorkers } from '../../events/index.ts'
import { loadDatabaseTime, loadFacts, removeFact, storeFact, type System } from '../../store/index.ts'
import { changeSystem, type ActingHost, type WriteAudit } from '../change-system.ts'

/** What happens to deliveries that wait: they are sent, held until they are sent or cancelled, or cancelled now. */
export const deliveryChoices = ['send', 'hold', 'cancel'] as const
export type DeliveryChoice = (typeof deliveryChoices)[number]

/** What workers of this System would post. A copy of a System would post it a second time. */
export interface WaitingDeliveries {
  readonly deliveries: number
  /** Messages that have not become deliveries yet. */
  readonly messages: number
  /** Events that become messages when they are due. */
  readonly delayed: number
  /** Runs of listeners. */
  readonly runs: number
  /** The hosts of subscriptions that are not disabled, and of deliveries; those with the most deliveries first. */
  readonly hosts: readonly WaitingHost[]
  /** When they were held, in milliseconds since 1970; undefined if they are not. */
  readonly heldAt: number | undefined
}

export interface WaitingHost {
  readonly host: string
  readonly deliveries: number
  readonly subscriptions: number
}

export async function loadWaitingDeliveries(system: System): Promise<WaitingDeliveries> {
  const { deliveries_held: held } = await loadFacts(system)
  const { rows } = await sql<{ endpoint: string; deliveries: number; subscriptions: number }>`
    with waiting as (
      select subscription_id, count(*) as size from (
        select subscription_id from waypost_delivery where status = 'pending' and due_at = 0
        union all select subscription_id from waypost_delivery where status = 'pending' and due_at > 0
      ) as pending group by subscription_id
    )
    select s.endpoint, cast(coalesce(sum(waiting.size), 0) as bigint) as deliveries,
      sum(case when s.status = 'disabled' then 0 else 1 end) as subscriptions
    from waypost_subscription s left join waiting on waiting.subscription_id = s.id
    group by s.endpoint`.execute(system.db)
  const { messages } = await system.db
    .selectFrom('waypost_message')
    .select((column) => column.fn.countAll<number>().as('messages'))
    .where('fanned_out_at', 'is', null)
    .executeTakeFirstOrThrow()
  const { delayed } = await system.db
    .selectFrom('waypost_delayed')
    .select((column) => column.fn.countAll<number>().as('delayed'))
    .executeTakeFirstOrThrow()
  // Each part is the condition of an index.
  const { rows: counted } = await sql<{ runs: number }>`
    select (select count(*) from waypost_run where status = 'pending' and exclusive_key is null)
      + (select count(*) from waypost_run where status = 'pending' and exclusive_key is not null)
      + (select count(*) from waypost_run where status = 'running') as runs`.execute(system.db)
  const { runs } = counted[0]!
  const byHost = Map.groupBy(rows, ({ endpoint }) => (URL.canParse(endpoint) ? new URL(endpoint).host : endpoint))
  const hosts = [...byHost]
    .map(([host, parts]) => ({
      host,
      deliveries: parts.reduce((sum, part) => sum + part.deliveries, 0),
      subscriptions: parts.reduce((sum, part) => sum + part.subscriptions, 0),
    }))
    .filter((one) => one.deliveries + one.subscriptions > 0)
    .toSorted((a, b) => b.deliveries - a.deliveries || b.subscriptions - a.subscriptions || (a.host < b.host ? -1 : 1))
  const deliveries = hosts.reduce((sum, one) => sum + one.deliveries, 0)
  return { deliveries, messages, delayed, runs, hosts, heldAt: held === undefined ? undefined : Number(held) }
}

/** Holds deliveries unless there is nothing to hold. */
export function chooseDeliveries(
  { hosts, messages, delayed, runs }: WaitingDeliveries,
  given?: DeliveryChoice,
): DeliveryChoice {
  return given ?? (hosts.length === 0 && messages + delayed + runs === 0 ? 'send' : 'hold')
}

/** The part of a choice that belongs into the transaction of another change, before `finishDeliveries`. */
export async function beginDeliveries(joined: System, audit: WriteAudit, choice: DeliveryChoice): Promise<void> {
  if (choice === 'send') {
    if (await removeFact(joined, 'deliveries_held')) await audit({ action: 'delivery.resume' })
    return
  }
  const now = String(await loadDatabaseTime(joined))
  const isNew = (await loadFacts(joined)).deliveries_held === undefined
  await storeFact(joined, 'deliveries_held', now)
  if (isNew && choice === 'hold') await audit({ action: 'delivery.hold' })
}

/**
 * Ends what workers have in memory, and cancels.
 * @returns the number of cancelled deliveries
 */
export async function finishDeliveries(host: ActingHost, choice: DeliveryChoice): Promise<number> {
  if (choice === 'send') return 0
  await endAllWorkers(host.system)
  if (choice === 'hold') return 0
  const deliveries = await cancelAllPending(host.system)
  await changeSystem(host, async (joined, audit) => {
    await removeFact(joined, 'deliveries_held')
    await audit({ action: 'delivery.cancel', after: { deliveries } })
  })
  return deliveries
}

/**
 * Sends or cancels what was held.
 * @returns what waited, and how much of it was cancelled; undefined if not confirmed
 */
export async function resumeHostDeliveries(
  host: ActingHost,
  { choice, confirm }: { choice: 'send' | 'cancel'; confirm(waiting: WaitingDeliveries): Promise<boolean> },
): Promise<{ readonly waiting: WaitingDeliveries; readonly cancelled: number } | undefined> {
  const waiting = await loadWaitingDeliveries(host.system)
  if (!(await confirm(waiting))) return undefined
  await changeSystem(host, (joined, audit) => beginDeliveries(joined, audit, choice))
  return { waiting, cancelled: await finishDeliveries(host, choice) }
}
