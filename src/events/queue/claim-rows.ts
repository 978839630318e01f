import { sql, type RawBuilder } from 'kysely'
import type { System } from '../../store/index.ts'
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

/** Claims deliveries that are still due once they are locked, and loads their data. */
export async function claimRows(system: System, request: ClaimRequest): Promise<readonly LoadedRow[]> {
  const rows =
    system.kind === 'postgresql' ? await claimInOneStatement(system, request) : await claimAndLoad(system, request)
  return rows.map((row) => ({
    ...row,
    subscribed: row.subscribed ?? '',
    subscriptionFailures: row.subscriptionFailures ?? 0,
    event: row.event ?? '',
    data: row.data ?? '',
    endpoint: row.endpoint ?? '',
    revision: row.revision ?? 0,
    secret: row.secret ?? '',
    userId: row.data !== null && row.userStatus === 'active' && row.isCreatorActive === 1 ? row.userId : null,
  }))
}

/** A row as the database returns it: null for related rows that were deleted. */
type StoredRow = { [Key in keyof LoadedRow]: LoadedRow[Key] | null } & Pick<
  LoadedRow,
  'id' | 'failures' | 'lost' | 'subscriptionId' | 'claimedAt' | 'hasDefaultScope'
> & { readonly userStatus: string | null; readonly isCreatorActive: number }

const columns = (
  system: System,
) => sql`d.id, d.failures, d.lost, d.subscription_id as "subscriptionId", message.event, message.data,
  s.endpoint, s.revision, s.secret, s.previous_secrets as "previousSecrets", s.status, s.event as subscribed,
  s.failures as "subscriptionFailures", u.id as "userId", u.status as "userStatus",
  case when ${isCreatorActive} then 1 else 0 end as "isCreatorActive",
  case when exists (
    select 1 from waypost_user_scope granted
    where granted.user_id = u.id and granted.scope = ${defaultScope} and ${isScopeEffective(system)}
  ) then 1 else 0 end as "hasDefaultScope"`

const joins = sql`left join waypost_message message on message.id = d.message_id
  left join waypost_subscription s on s.id = d.subscription_id
  left join waypost_user u on u.id = s.user_id
  left join waypost_client creator on creator.id = s.client_id`

/** Uses one statement, which is its own transaction. */
async function claimInOneStatement(system: System, request: ClaimRequest): Promise<readonly StoredRow[]> {
  const { rows } = await sql<StoredRow>`
    with picked as materialized (${stillDue(system, request, sql`for update skip locked`)}),
    taken as (
      update waypost_delivery set ${changes(system, request)} where id = any(array(select id from picked))
      returning id, failures, lost, subscription_id, message_id, due_at, claim_id
    )
    select ${columns(system)}, ${nowOnce(system)} as "claimedAt" from taken d ${joins}
    where d.claim_id = ${request.claimId} order by d.due_at, d.id`.execute(system.db)
  return rows
}

/** SQLite cannot do this in one statement; a write transaction runs alone there. */
function claimAndLoad(system: System, request: ClaimRequest): Promise<readonly StoredRow[]> {
  return system.transaction(async (trx) => {
    await sql`
      update waypost_delivery set ${changes(system, request)}
      where id in (select id from (${stillDue(system, request, sql``)}))`.execute(trx)
    const { rows } = await sql<StoredRow>`
      select ${columns(system)}, ${nowOnce(system)} as "claimedAt" from waypost_delivery d ${joins}
      where ${isOneOf(system, sql`d.id`, JSON.stringify(request.due))} and d.claim_id = ${request.claimId}
      order by d.due_at, d.id`.execute(trx)
    return rows
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
