import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
import type { Capacity } from './candidates.ts'
import type { LoadedRow } from './claimed.ts'
import { usualScope } from '../message/catalog.ts'
import { isLeaseOver, isMakerActive, isOneOf, isPassedOn, isTooLong, nowOnce } from '../expressions.ts'

export interface ClaimRequest {
  /** Ids of deliveries that were found due. */
  readonly due: readonly string[]
  readonly capacity: Capacity
  readonly claimId: string
  readonly leaseMs: number
}

/** Puts deliveries under a claim, as far as they still are due once they are locked, and loads what belongs to them. */
export async function claimRows(system: System, taking: ClaimRequest): Promise<readonly LoadedRow[]> {
  const rows =
    system.kind === 'postgresql' ? await claimInOneStatement(system, taking) : await claimAndLoad(system, taking)
  return rows.map((row) => ({
    ...row,
    subscribed: row.subscribed ?? '',
    subscriptionFailures: row.subscriptionFailures ?? 0,
    event: row.event ?? '',
    data: row.data ?? '',
    endpoint: row.endpoint ?? '',
    revision: row.revision ?? 0,
    secret: row.secret ?? '',
    userId: row.data !== null && row.userStatus === 'active' && row.isMakerActive === 1 ? row.userId : null,
  }))
}

/** As the database has it: what is gone is null. */
type StoredRow = { [Key in keyof LoadedRow]: LoadedRow[Key] | null } & Pick<
  LoadedRow,
  'id' | 'failures' | 'lost' | 'subscriptionId' | 'claimedAt' | 'isUsual'
> & { readonly userStatus: string | null; readonly isMakerActive: number }

const columns = (
  system: System,
) => sql`d.id, d.failures, d.lost, d.subscription_id as "subscriptionId", message.event, message.data,
  s.endpoint, s.revision, s.secret, s.previous_secrets as "previousSecrets", s.status, s.event as subscribed,
  s.failures as "subscriptionFailures", u.id as "userId", u.status as "userStatus",
  case when ${isMakerActive} then 1 else 0 end as "isMakerActive",
  case when exists (
    select 1 from waypost_user_scope granted
    where granted.user_id = u.id and granted.scope = ${usualScope} and ${isPassedOn(system)}
  ) then 1 else 0 end as "isUsual"`

const joins = sql`left join waypost_message message on message.id = d.message_id
  left join waypost_subscription s on s.id = d.subscription_id
  left join waypost_user u on u.id = s.user_id
  left join waypost_client maker on maker.id = s.client_id`

/** One statement, which is a transaction by itself. */
async function claimInOneStatement(system: System, taking: ClaimRequest): Promise<readonly StoredRow[]> {
  const { rows } = await sql<StoredRow>`
    with picked as materialized (${picked(system, taking, sql`for update skip locked`)}),
    taken as (
      update waypost_delivery set ${changes(system, taking)} where id = any(array(select id from picked))
      returning id, failures, lost, subscription_id, message_id, due_at, claim_id
    )
    select ${columns(system)}, ${nowOnce(system)} as "claimedAt" from taken d ${joins}
    where d.claim_id = ${taking.claimId} order by d.due_at, d.id`.execute(system.db)
  return rows
}

/** SQLite has no such statement; a transaction that writes is alone there. */
function claimAndLoad(system: System, taking: ClaimRequest): Promise<readonly StoredRow[]> {
  return system.transaction(async (trx) => {
    await sql`
      update waypost_delivery set ${changes(system, taking)}
      where id in (select id from (${picked(system, taking, sql``)}))`.execute(trx)
    const { rows } = await sql<StoredRow>`
      select ${columns(system)}, ${nowOnce(system)} as "claimedAt" from waypost_delivery d ${joins}
      where ${isOneOf(system, sql`d.id`, JSON.stringify(taking.due))} and d.claim_id = ${taking.claimId}
      order by d.due_at, d.id`.execute(trx)
    return rows
  })
}

/** Materialised by PostgreSQL, where a planner may choose again while it updates. */
function picked(system: System, { due, capacity }: ClaimRequest, lock: RawBuilder<unknown>): RawBuilder<unknown> {
  // Neither condition is written as an index could use it: of all that waits, only these rows are to be read.
  return sql`select d.id from waypost_delivery d
    where ${isOneOf(system, sql`d.id`, JSON.stringify(due))} and d.status || '' = 'pending'
      and d.due_at + 0 <= ${nowOnce(system)} and ${isLeaseOver(system, capacity.settings)}
    order by d.due_at, d.id limit ${capacity.free} ${lock}`
}

function changes(system: System, { capacity, claimId, leaseMs }: ClaimRequest): RawBuilder<unknown> {
  const isWrong = isTooLong(system, capacity.settings)
  return sql`
    lost = case when claim_id is null or ${isWrong} then lost else lost + 1 end,
    claim_id = case when ${isWrong} then claim_id else ${claimId} end,
    lease_until = ${nowOnce(system)} + ${sql.lit(leaseMs)}`
}
