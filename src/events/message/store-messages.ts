import { CompiledQuery, sql, type Kysely, type RawBuilder } from 'kysely'
import { makeNextId } from '../../kit/index.ts'
import { jsonRows, nowOnce, withCommit, type System, type SystemTables } from '../../store/index.ts'
import { isPrivate, type EventCatalog } from './catalog.ts'
import { insertFewRuns, insertRuns, planRuns, type PlannedRun } from './plan-runs.ts'

/** What is stored of a message that was dispatched. */
interface NewMessage {
  readonly event: string
  readonly data: string
  readonly users: readonly string[] | undefined
}

type Row = readonly [id: string, event: string, data: string, users: string | null]

/** Where messages are stored. */
interface Place {
  readonly db: Kysely<SystemTables>
  /** Whether the transaction may be committed with the messages, on PostgreSQL. */
  readonly commits: boolean
}

const insertMessages = sql`insert into waypost_message (id, event, data, users, created_at, fanned_out_at)`

/** One message with more runs is stored like several messages. */
const maxFew = 20

/** Returns a function that stores messages and their runs, with one statement on PostgreSQL. */
export function makeMessageStore(system: System, catalog: EventCatalog) {
  const storeOne = makeOneStore(system, catalog)
  return async (messages: readonly NewMessage[], place: Place): Promise<void> => {
    const rows = messages.map(({ event, data, users }): Row => {
      const id = makeNextId('msg_', Date.now()) // the order for ordered subscriptions; fan-out uses created_at
      return [id, event, data, users === undefined ? null : JSON.stringify(users)]
    })
    const runs = rows.flatMap(([id, event, data]) => planRuns(catalog, { id, event, data }))
    if (rows.length === 1 && runs.length <= maxFew && (await storeOne(rows[0]!, runs, place))) return
    const now = nowOnce(system)
    const marked = rows.map((row) => [...row, isPrivate(catalog, row[1]) ? 'private' : null])
    const insertRows = sql`${insertMessages}
      select value ->> 0, value ->> 1, value ->> 2, value ->> 3, ${now}, case value ->> 4 when 'private' then ${now} end
      from ${jsonRows(system, marked)}`
    if (system.kind === 'postgresql') {
      const all = runs.length === 0 ? insertRows : sql`with stored as (${insertRows}) ${insertRuns(system, runs)}`
      await last(all, place).execute(place.db)
    } else if (runs.length === 0) await insertRows.execute(place.db)
    else {
      await inTransaction(system, place, async (trx) => {
        await insertRows.execute(trx)
        await insertRuns(system, runs).execute(trx)
      })
    }
  }
}

/** For the usual case of one message, because building a statement and reading JSON take as long as the rest. */
function makeOneStore(system: System, catalog: EventCatalog) {
  const insertOne = (fannedOutAt: RawBuilder<unknown>) =>
    sql`${insertMessages} values (${1}, ${2}, ${3}, ${4}, ${system.now()}, ${fannedOutAt})`
  const [insertPublic, insertPrivate] = [insertOne(sql`null`), insertOne(system.now())]
  const isFixed = insertPublic.compile(system.db).parameters.length === 4 // the time of a test's clock is a parameter too
  const compiled = new Map<string, CompiledQuery>()
  /** @returns the statement that stores a message of an event, a number of runs, or both */
  const find = (event: string | undefined, count: number, place: Place): CompiledQuery => {
    const message = event === undefined ? undefined : isPrivate(catalog, event) ? insertPrivate : insertPublic
    const key = `${message === undefined ? 'runs' : message === insertPrivate} ${count} ${place.commits}`
    const known = compiled.get(key)
    if (known !== undefined) return known
    const few = () => insertFewRuns(system, count)
    const statement = message === undefined ? few() : count === 0 ? message : sql`with stored as (${message}) ${few()}`
    const made = last(statement, place).compile(system.db)
    compiled.set(key, made)
    return made
  }
  const execute = ({ sql: text }: CompiledQuery, parameters: readonly unknown[], db: Place['db']) =>
    db.executeQuery(CompiledQuery.raw(text, [...parameters]))
  /** @returns false if it cannot */
  return async (row: Row, runs: readonly PlannedRun[], place: Place): Promise<boolean> => {
    if (!isFixed) return false
    const [, event] = row
    if (runs.length === 0 || system.kind === 'postgresql')
      await execute(find(event, runs.length, place), [...row, ...runs.flat()], place.db)
    else {
      await inTransaction(system, place, async (trx) => {
        await execute(find(event, 0, place), row, trx)
        await execute(find(undefined, runs.length, place), runs.flat(), trx)
      })
    }
    return true
  }
}

function last(statement: RawBuilder<unknown>, { commits }: Place): RawBuilder<unknown> {
  return commits ? withCommit(statement) : statement
}

async function inTransaction(
  system: System,
  { db }: Place,
  write: (trx: Kysely<SystemTables>) => Promise<void>,
): Promise<void> {
  await (db === system.db ? system.transaction(write) : write(db))
}
