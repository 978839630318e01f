import { sql, type RawBuilder } from 'kysely'
import { makeNextId, sha256 } from '../../kit/index.ts'
import { jsonRows, nowOnce, type System } from '../../store/index.ts'
import { findEvent, type EventCatalog } from './catalog.ts'

/** A run as it is stored with its message. */
export type PlannedRun = readonly [id: string, listener: string, message: string, exclusiveKey: string | null]

/** Plans a run of each listener of an event. @param data the JSON text of the message */
export function planRuns(
  catalog: EventCatalog,
  { id, event, data }: { readonly id: string; readonly event: string; readonly data: string },
): readonly PlannedRun[] {
  const { listeners = [] } = findEvent(catalog, event) ?? {}
  return listeners.map(({ name, exclusive }) => {
    const key = exclusive === undefined ? null : exclusive === true ? '*' : keyOf(data, exclusive)
    return [makeNextId('run_', Date.now()), name, id, key]
  })
}

/** Whether planning needs the data of an event. */
export function needsData(catalog: EventCatalog, event: string): boolean {
  return (findEvent(catalog, event)?.listeners ?? []).some(({ exclusive }) => typeof exclusive === 'string')
}

/** A hash, because the value may be long. Runs without the property have the same key. */
function keyOf(data: string, path: string): string {
  let value: unknown = JSON.parse(data)
  for (const step of path.split('.').slice(1)) {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    value = isObject ? (value as Record<string, unknown>)[step] : undefined
  }
  return sha256(JSON.stringify(value ?? null)).slice(0, 32)
}

const columns = sql`(id, listener, message_id, exclusive_key, status, due_at, scheduled_at, created_at)`

/** The statement that stores runs. */
export function insertRuns(system: System, runs: readonly PlannedRun[]): RawBuilder<unknown> {
  const now = nowOnce(system)
  return sql`insert into waypost_run ${columns}
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, 'pending', ${now}, ${now}, ${now}
    from ${jsonRows(system, runs)}`
}

/** The statement that stores this many runs. Its parameters are the parts of all of them. */
export function insertFewRuns(system: System, count: number): RawBuilder<unknown> {
  const runs = Array.from({ length: count }, () => sql`(${1}, ${2}, ${3}, ${4})`)
  return sql`insert into waypost_run ${columns}
    select run.*, 'pending', entry.now, entry.now, entry.now
    from (values ${sql.join(runs)}) as run, (select ${system.now()} as now) as entry`
}
