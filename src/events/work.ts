import { sql, type RawBuilder } from 'kysely'
import type { System } from '../store/index.ts'
import type { EventCatalog } from './catalog.ts'

/** What a worker may take on now. */
export interface Capacity {
  readonly catalog: EventCatalog
  /** How many more deliveries it can start. */
  readonly free: number
  /** Deliveries at most to one endpoint. */
  readonly perEndpoint: number
  /** How many it has under way, by endpoint. */
  readonly underWay: ReadonlyMap<string, number>
}

/** Where there is something to do. */
export interface Work {
  readonly messages: boolean
  readonly deliveries: boolean
}

/**
 * Looks for work without writing: a worker that waits opens no transaction. An event that the active release does not
 * name is left waiting, since nobody knows who may receive it.
 */
export async function findWork(system: System, capacity: Capacity): Promise<Work> {
  const events = texts(system, JSON.stringify(Object.keys(capacity.catalog)))
  const messages = sql`select 1 from waypost_message where fanned_out_at is null and event in ${events}`
  const deliveries = sql`select 1 from ${dueDeliveries(system, capacity)}`
  const isFree = capacity.free > 0 ? 1 : 0
  const { rows } = await sql<{ messages: number; deliveries: number }>`
    select case when exists (${messages}) then 1 else 0 end as messages,
      case when ${isFree} = 1 and exists (${deliveries}) then 1 else 0 end as deliveries`.execute(system.db)
  return { messages: rows[0]?.messages === 1, deliveries: rows[0]?.deliveries === 1 }
}

/** The database's time as a subquery: evaluated once, so that an index can be searched by it. */
export function nowOnce(system: System): RawBuilder<number> {
  return sql<number>`(select ${system.now()})`
}

/** The texts of a JSON list as a subquery: it may have any length, where parameters are limited in number. */
export function texts(system: System, json: string): RawBuilder<string> {
  if (system.kind === 'sqlite') return sql<string>`(select value from json_each(${json}))`
  return sql<string>`(select json_array_elements_text(cast(${json} as json)))`
}

/** Whether the delivery `d` waits, is due, and nobody holds a lease on it. */
export function isDue(system: System): RawBuilder<boolean> {
  const now = nowOnce(system)
  return sql<boolean>`d.status = 'pending' and d.due_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})`
}

/**
 * What follows `from`: due deliveries `d` with their subscription `s`, if it still is there, and `busy.value`, how many
 * are under way to its endpoint; without those of paused subscriptions and of endpoints that have as many as they may.
 */
export function dueDeliveries(system: System, { catalog, perEndpoint, underWay }: Capacity): RawBuilder<unknown> {
  const events = texts(system, JSON.stringify(Object.keys(catalog)))
  const busy = JSON.stringify(Object.fromEntries(underWay))
  const each = system.kind === 'sqlite' ? sql`json_each(${busy})` : sql`json_each_text(cast(${busy} as json))`
  return sql`waypost_delivery d
    left join waypost_subscription s on s.id = d.subscription_id
    left join ${each} busy on busy.key = s.endpoint
    where ${isDue(system)}
      and (s.id is null or (s.status <> 'paused' and s.event in ${events}))
      and coalesce(cast(busy.value as integer), 0) < ${perEndpoint}`
}
