import { sql, type Kysely, type RawBuilder } from 'kysely'
import { makeNextId, makeSortedId } from '../../kit/index.ts'
import { insertRuns, needsData, planRuns } from './plan-runs.ts'
import { isPrivate, type EventCatalog } from './catalog.ts'
import {
  followIndexes,
  isOneOf,
  jsonRows,
  jsonStrings,
  nowOnce,
  type System,
  type SystemTables,
} from '../../store/index.ts'
import type { Delay } from './delay.ts'

// Events wait in a table of their own until they are due. As messages, they would hold up ordered subscriptions.

/** What happens to the delayed event with a key, or without a key: a new one. */
export interface DelayedChange {
  readonly event: string
  readonly key: string | undefined
  /** Undefined if it is cancelled. */
  readonly put:
    | { readonly data: string; readonly users: readonly string[] | undefined; readonly delay: Delay }
    | undefined
}

/** `add`: unless there is one. `set`: whether or not there is one. */
type Kind = 'add' | 'set' | 'remove'

/**
 * Writes what a transaction has changed, as one change for each key and in the order of the keys: transactions that wrote
 * the same keys in opposite orders would wait for each other.
 */
export async function writeDelayed(
  system: System,
  db: Kysely<SystemTables>,
  changes: readonly DelayedChange[],
): Promise<void> {
  const groups: { readonly kind: Kind; readonly changes: DelayedChange[] }[] = []
  for (const { kind, change } of mergeChanges(changes)) {
    const last = groups.at(-1)
    if (last?.kind === kind) last.changes.push(change)
    else groups.push({ kind, changes: [change] })
  }
  for (const { kind, changes: ofKind } of groups) {
    await (kind === 'remove' ? remove(system, ofKind) : put(system, ofKind, kind)).execute(db)
  }
}

function kindOf({ put: added }: DelayedChange): Kind {
  if (added === undefined) return 'remove'
  return added.delay.replaces ? 'set' : 'add'
}

/** What the changes of each key amount to: those without a key, then the others in the order of their keys. */
function mergeChanges(changes: readonly DelayedChange[]): readonly { kind: Kind; change: DelayedChange }[] {
  const merged = new Map<string, { kind: Kind; change: DelayedChange }>()
  const others: { kind: Kind; change: DelayedChange }[] = []
  for (const change of changes) {
    const kind = kindOf(change)
    if (change.key === undefined) {
      others.push({ kind, change })
      continue
    }
    const id = JSON.stringify([change.event, change.key])
    const before = merged.get(id)
    // After a removal there is none, and after another change there is one.
    if (kind === 'add' && before !== undefined && before.kind !== 'remove') continue
    merged.set(id, { kind: kind === 'add' && before !== undefined ? 'set' : kind, change })
  }
  const sorted = [...merged].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  return [...others, ...sorted]
}

function put(system: System, changes: readonly DelayedChange[], kind: Kind): RawBuilder<unknown> {
  const rows = changes.map(({ event, key, put: added }) => {
    const { data, users, delay } = added!
    const { due } = delay
    const times = 'atMs' in due ? [null, due.atMs] : [due.afterMs, null]
    return [makeSortedId('dly_', Date.now()), event, key ?? null, data, users ? JSON.stringify(users) : null, ...times]
  })
  const now = nowOnce(system)
  const columns = ['id', 'data', 'users', 'due_at', 'fixed', 'created_at']
  const replaced = columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`)
  return sql`
    insert into waypost_delayed (id, event, key, data, users, due_at, fixed, created_at)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
      coalesce(cast(value ->> 6 as bigint), ${now} + cast(value ->> 5 as bigint)),
      case when value ->> 6 is null then 0 else 1 end, ${now}
    from ${jsonRows(system, rows)} where true order by entry.key
    on conflict (event, key) do ${kind === 'add' ? sql`nothing` : sql`update set ${sql.join(replaced)}`}`
}

/** On PostgreSQL, locks the rows in order before it deletes them. */
function remove(system: System, changes: readonly DelayedChange[]): RawBuilder<unknown> {
  const rows = changes.map(({ event, key }) => [event, key])
  const lock = system.kind === 'postgresql' ? sql`for update of d` : sql``
  return sql`
    with asked as materialized (
      select value ->> 0 as event, value ->> 1 as name, entry.key as place from ${jsonRows(system, rows)}
    ), chosen as materialized (
      select d.id from asked join waypost_delayed d on d.event = asked.event and d.key = asked.name
      order by asked.place ${lock}
    )
    delete from waypost_delayed where id in (select id from chosen)`
}

/**
 * Whether a delayed event is due, as an expression. One that the active release does not declare waits until a release does:
 * its listeners are unknown.
 */
export function isDelayedDue(system: System, catalog: EventCatalog): RawBuilder<boolean> {
  return sql<boolean>`(${oldestDue(system, catalog, sql`id`)} limit 1) is not null`
}

/**
 * Those that are due, in the order of their index. It must not be searched by event, because all that wait would be read and
 * sorted each time; the event is therefore an expression.
 */
function oldestDue(system: System, catalog: EventCatalog, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  const events = jsonStrings(system, JSON.stringify(Object.keys(catalog)))
  return sql`select ${columns} from waypost_delayed
    where due_at <= ${nowOnce(system)} and event || '' in ${events} order by due_at, id`
}

/** The most that one statement moves. */
export const maxMoved = 500

/**
 * Makes messages of the oldest delayed events that are due and not locked. They are dispatched now: to the subscriptions that
 * exist now, and in this order for ordered ones, and to the listeners of the catalog.
 * @returns their number
 */
export async function moveDelayed(system: System, catalog: EventCatalog): Promise<number> {
  const ids = Array.from({ length: maxMoved }, () => [makeNextId('msg_', Date.now())])
  return system.transaction(async (trx) => {
    await followIndexes(system, trx)
    const read = Object.keys(catalog).filter((event) => needsData(catalog, event))
    const data = sql`case when event in ${jsonStrings(system, JSON.stringify(read))} then data else 'null' end as data`
    const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
    const { rows } = await sql<{ id: string; event: string; data: string }>`
      ${oldestDue(system, catalog, sql`id, event, ${data}`)} limit ${sql.lit(maxMoved)} ${lock}`.execute(trx)
    if (rows.length === 0) return 0
    const isChosen = isOneOf(
      system,
      sql`id`,
      rows.map(({ id }) => id),
    )
    const now = nowOnce(system)
    const hidden = JSON.stringify(Object.keys(catalog).filter((event) => isPrivate(catalog, event)))
    await sql`insert into waypost_message (id, event, data, users, created_at, fanned_out_at)
      select fresh.id, one.event, one.data, one.users, ${now},
        case when one.event in ${jsonStrings(system, hidden)} then ${now} end
      from (select *, row_number() over (order by due_at, id) as place from waypost_delayed where ${isChosen}) as one
      join (
        select value ->> 0 as id, row_number() over (order by entry.key) as place from ${jsonRows(system, ids)}
      ) as fresh on fresh.place = one.place`.execute(trx)
    await sql`delete from waypost_delayed where ${isChosen}`.execute(trx)
    const runs = rows.flatMap((row, place) => planRuns(catalog, { ...row, id: ids[place]![0]! }))
    if (runs.length > 0) await insertRuns(system, runs).execute(trx)
    return rows.length
  })
}

/** Those that were dispatched by a clock that was ahead keep the wait that they were to have, counted from now. */
export function correctDelayed(system: System, isAhead: (column: RawBuilder<unknown>) => RawBuilder<boolean>) {
  const isWrong = sql<boolean>`fixed = 0 and ${isAhead(sql`created_at`)}`
  const now = nowOnce(system)
  return {
    isWrong: sql<boolean>`exists (select 1 from waypost_delayed where ${isWrong})`,
    correct: sql`update waypost_delayed set due_at = ${now} + (due_at - created_at), created_at = ${now} where ${isWrong}`,
  }
}
