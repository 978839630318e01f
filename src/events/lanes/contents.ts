import { sql } from 'kysely'
import { isOneOf, jsonRows, nowOnce, readInIndexOrder, type System } from '../../store/index.ts'
import { eventTerms, isRecipientAllowed } from '../expressions.ts'
import { isPostable, type Breaker } from './breaker.ts'
import type { Terms } from './read.ts'

/** A subscription with what determines whether something may be posted to it now. */
export interface Recipient extends Breaker {
  readonly subscriptionId: string
  /** Whether it is active, and its user and client may receive its event. */
  readonly isAllowed: boolean
  /** Whether it is paused, or the release does not declare its event: its deliveries wait. */
  readonly isHeld: boolean
  readonly endpoint: string
  readonly revision: number
  /** Encrypted. */
  readonly secret: string
  /** Encrypted: the previous secrets, which also sign until they expire. */
  readonly previousSecrets: string | null
  readonly isOrdered: boolean
}

/** @returns the subscriptions that exist, and the database's time */
export async function loadRecipients(
  system: System,
  ids: readonly string[],
  { catalog, settings }: Terms,
): Promise<{ readonly recipients: readonly Recipient[]; readonly now: number }> {
  type Row = Omit<Recipient, 'isAllowed' | 'isHeld' | 'isOrdered'> & Record<'allowed' | 'ordered' | 'now', number>
  const { rows } = await sql<Row & { readonly status: string | null; readonly event: string }>`
    with ${eventTerms(system, catalog)}
    select s.id as "subscriptionId", s.endpoint, s.revision, s.secret, s.previous_secrets as "previousSecrets",
      s.failures, case when ${isPostable(system, settings)} then null else s.open_until end as "openUntil",
      s.failing_since as "failingSince", s.status, s.event, s.ordered,
      case when ${isRecipientAllowed(system)} then 1 else 0 end as allowed, ${nowOnce(system)} as now
    from (select 1) as one left join (
      select * from waypost_subscription where ${isOneOf(system, sql`id`, ids)}
    ) s on true
    left join waypost_user u on u.id = s.user_id
    left join waypost_client creator on creator.id = s.client_id`.execute(system.db)
  const found = rows.filter(({ status }) => status !== null)
  const recipients = found.map(({ status, event, ordered, allowed, ...row }) => {
    const isHeld = status === 'paused' || (status === 'active' && !Object.hasOwn(catalog, event))
    return { ...row, isAllowed: status === 'active' && allowed === 1, isHeld, isOrdered: ordered === 1 }
  })
  return { recipients, now: rows[0]!.now }
}

/** What a message posts. */
export interface Message {
  readonly event: string
  /** The exact text of the request body. */
  readonly data: string
}

/**
 * Loads messages in the given order as long as their bodies fit into `maxBytes`, at least the first one.
 * @returns those that exist; null for those that do not fit
 */
export async function loadMessages(
  system: System,
  ids: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, Message | null>> {
  const rows = ids.map((id) => [id])
  const bytes = sql`octet_length(m.data)` // does not read a long body
  const { rows: found } = await readInIndexOrder(system, (db) =>
    sql<{ id: string; event: string; data: string | null }>`
    select m.id, m.event, case when total <= cast(${Math.max(maxBytes, 0)} as bigint) or total = bytes then m.data end as data from (
      select m.id, sum(${bytes}) over (order by entry.key) as total, ${bytes} as bytes
      from ${jsonRows(system, rows)} join waypost_message m on m.id = entry.value ->> 0
    ) as sized join waypost_message m on m.id = sized.id`.execute(db),
  )
  return new Map(found.map(({ id, event, data }) => [id, data === null ? null : { event, data }]))
}
