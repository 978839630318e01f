import { sql, type RawBuilder } from 'kysely'
import type { System, SystemTables } from '../../store/index.ts'
import type { Capacity } from './candidates.ts'
import type { LoadedRow } from './sort-claims.ts'
import { defaultScope } from '../message/catalog.ts'
import { isLeaseExpired, isCreatorActive, isOneOf, isScopeEffective, isLeaseTooLong, nowOnce } from '../expressions.ts'

export interface ClaimRequest {
  /** Ids of due deliveries. */
  readonly due: readonly string[]
  readonly capacity: Capacity
  readonly claimId: string
  readonly leaseMs: number
}

/**
 * Claims deliveries that are still due once they are locked, and loads what they are posted with. A subscription or
 * message of many deliveries is loaded once.
 */
export async function claimRows(system: System, request: ClaimRequest): Promise<readonly LoadedRow[]> {
  const { deliveries, recipients, messages, claimedAt } =
    system.kind === 'postgresql' ? await claimInOneStatement(system, request) : await claimAndLoad(system, request)
  const recipientOf = new Map(recipients.map((one) => [one.id, one]))
  const messageOf = new Map(messages.map((one) => [one.id, one]))
  return deliveries.map(({ message_id: messageId, subscription_id: subscriptionId, ...delivery }) => {
    const message = messageOf.get(messageId)
    const recipient = recipientOf.get(subscriptionId)
    const isAllowed = message !== undefined && recipient?.userStatus === 'active' && recipient.isCreatorActive === 1
    return {
      ...delivery,
      subscriptionId,
      claimedAt,
      event: message?.event ?? '',
      data: message?.data ?? '',
      endpoint: recipient?.endpoint ?? '',
      revision: recipient?.revision ?? 0,
      secret: recipient?.secret ?? '',
      previousSecrets: recipient?.previousSecrets ?? null,
      status: recipient?.status ?? null,
      subscribed: recipient?.subscribed ?? '',
      subscriptionFailures: recipient?.subscriptionFailures ?? 0,
      hasDefaultScope: recipient?.hasDefaultScope ?? 0,
      userId: isAllowed ? recipient.userId : null,
    }
  })
}

interface Claimed {
  /** In the order in which they were due. */
  readonly deliveries: readonly Pick<
    SystemTables['waypost_delivery'],
    'id' | 'failures' | 'lost' | 'subscription_id' | 'message_id'
  >[]
  /** Their subscriptions that still exist. */
  readonly recipients: readonly Recipient[]
  /** Their messages that still exist. */
  readonly messages: readonly Pick<SystemTables['waypost_message'], 'id' | 'event' | 'data'>[]
  /** The database's time. */
  readonly claimedAt: number
}

type Recipient = Pick<
  LoadedRow,
  'endpoint' | 'revision' | 'secret' | 'previousSecrets' | 'subscribed' | 'subscriptionFailures' | 'hasDefaultScope'
> & {
  readonly id: string
  readonly status: 'active' | 'paused' | 'disabled'
  readonly userId: string | null
  readonly userStatus: string | null
  readonly isCreatorActive: number
}

/** The subscriptions that deliveries belong to, with what determines whether they may be posted. */
function selectRecipients(system: System, isChosen: RawBuilder<boolean>): RawBuilder<Recipient> {
  return sql<Recipient>`select s.id, s.endpoint, s.revision, s.secret, s.previous_secrets as "previousSecrets", s.status,
    s.event as subscribed, s.failures as "subscriptionFailures", u.id as "userId", u.status as "userStatus",
    case when ${isCreatorActive} then 1 else 0 end as "isCreatorActive",
    case when exists (
      select 1 from waypost_user_scope granted
      where granted.user_id = u.id and granted.scope = ${defaultScope} and ${isScopeEffective(system)}
    ) then 1 else 0 end as "hasDefaultScope"
    from waypost_subscription s
    left join waypost_user u on u.id = s.user_id
    left join waypost_client creator on creator.id = s.client_id
    where ${isChosen}`
}

/** Uses one statement, which is its own transaction, and returns one row: an array of each kind. */
async function claimInOneStatement(system: System, request: ClaimRequest): Promise<Claimed> {
  const gather = (rows: RawBuilder<unknown>) => sql`(select coalesce(json_agg(one), '[]') from (${rows}) one)`
  const recipients = selectRecipients(system, sql`s.id = any(array(select subscription_id from held))`)
  const { rows } = await sql<Claimed>`
    with picked as materialized (${stillDue(system, request, sql`for update skip locked`)}),
    taken as (
      update waypost_delivery set ${changes(system, request)} where id = any(array(select id from picked))
      returning id, failures, lost, subscription_id, message_id, due_at, claim_id
    ), held as (select * from taken where claim_id = ${request.claimId})
    select ${gather(sql`select id, failures, lost, subscription_id, message_id from held order by due_at, id`)} as deliveries,
      ${gather(recipients)} as recipients,
      ${gather(sql`select id, event, data from waypost_message where id = any(array(select message_id from held))`)} as messages,
      ${nowOnce(system)} as "claimedAt"`.execute(system.db)
  return rows[0]!
}

/** SQLite cannot do this in one statement; a write transaction runs alone there. */
function claimAndLoad(system: System, request: ClaimRequest): Promise<Claimed> {
  return system.transaction(async (trx) => {
    await sql`
      update waypost_delivery set ${changes(system, request)}
      where id in (select id from (${stillDue(system, request, sql``)}))`.execute(trx)
    const { rows: deliveries } = await sql<Claimed['deliveries'][number] & { claimedAt: number }>`
      select d.id, d.failures, d.lost, d.subscription_id, d.message_id, ${nowOnce(system)} as "claimedAt" from waypost_delivery d
      where ${isOneOf(system, sql`d.id`, JSON.stringify(request.due))} and d.claim_id = ${request.claimId}
      order by d.due_at, d.id`.execute(trx)
    const idsOf = (column: 'subscription_id' | 'message_id') =>
      JSON.stringify([...new Set(deliveries.map((row) => row[column]))])
    const { rows: recipients } = await selectRecipients(
      system,
      isOneOf(system, sql`s.id`, idsOf('subscription_id')),
    ).execute(trx)
    const messages = await trx
      .selectFrom('waypost_message')
      .select(['id', 'event', 'data'])
      .where(isOneOf(system, sql`id`, idsOf('message_id')))
      .execute()
    return { deliveries, recipients, messages, claimedAt: deliveries[0]?.claimedAt ?? 0 }
  })
}

/** On PostgreSQL the caller materialises this, because the planner may otherwise evaluate it again while it updates. */
function stillDue(system: System, { due, capacity }: ClaimRequest, lock: RawBuilder<unknown>): RawBuilder<unknown> {
  // Neither condition can use an index: only these rows must be read, not everything that is pending.
  return sql`select d.id from waypost_delivery d
    where ${isOneOf(system, sql`d.id`, JSON.stringify(due))} and d.status || '' = 'pending'
      and d.due_at + 0 <= ${nowOnce(system)} and ${isLeaseExpired(system, capacity.settings)}
    order by d.due_at, d.id limit ${capacity.free} ${lock}`
}

function changes(system: System, { capacity, claimId, leaseMs }: ClaimRequest): RawBuilder<unknown> {
  const isWrong = isLeaseTooLong(system, capacity.settings)
  return sql`
    lost = case when claim_id is null or ${isWrong} then lost else lost + 1 end,
    claim_id = case when ${isWrong} then claim_id else ${claimId} end,
    lease_until = ${nowOnce(system)} + ${sql.lit(leaseMs)}`
}
