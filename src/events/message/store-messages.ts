import { CompiledQuery, sql, type Kysely } from 'kysely'
import { makeNextId } from '../../kit/index.ts'
import { jsonRows, type System, type SystemTables } from '../../store/index.ts'
import type { EventCatalog } from './catalog.ts'
import { insertFewRuns, insertRuns, planRuns, type PlannedRun } from './plan-runs.ts'

/** What is stored of a message that was dispatched. */
interface NewMessage {
  readonly event: string
  readonly data: string
  readonly users: readonly string[] | undefined
}

type Row = readonly [id: string, event: string, data: string, users: string | null]

const insertMessages = sql`insert into waypost_message (id, event, data, users, created_at)`

/** One message with more runs is stored like several messages. */
const maxFew = 20

/** Returns a function that stores messages and their runs, with one statement on PostgreSQL. */
export function makeMessageStore(system: System, catalog: EventCatalog) {
  const storeOne = makeOneStore(system)
  return async (messages: readonly NewMessage[], db: Kysely<SystemTables>): Promise<void> => {
    const rows = messages.map(({ event, data, users }): Row => {
      const id = makeNextId('msg_', Date.now()) // the order for ordered subscriptions; fan-out uses created_at
      return [id, event, data, users === undefined ? null : JSON.stringify(users)]
    })
    const runs = rows.flatMap(([id, event, data]) => planRuns(catalog, { id, event, data }))
    if (rows.length === 1 && runs.length <= maxFew && (await storeOne(rows[0]!, runs, db))) return
    const insertRows = sql`${insertMessages} select value ->> 0, value ->> 1, value ->> 2, value ->> 3, ${system.now()}
      from ${jsonRows(system, rows)}`
    if (runs.length === 0) await insertRows.execute(db)
    else if (system.kind === 'postgresql') {
      await sql`with stored as (${insertRows}) ${insertRuns(system, runs)}`.execute(db)
    } else {
      await inTransaction(system, db, async (trx) => {
        await insertRows.execute(trx)
        await insertRuns(system, runs).execute(trx)
      })
    }
  }
}

/** For the usual case of one message, because building a statement and reading JSON take as long as the rest. */
function makeOneStore(system: System) {
  const insertOne = sql`${insertMessages} values (${1}, ${2}, ${3}, ${4}, ${system.now()})`
  const one = insertOne.compile(system.db)
  const withRuns: { readonly all: CompiledQuery; readonly runs: CompiledQuery }[] = []
  const compile = (count: number) => ({
    all: sql`with stored as (${insertOne}) ${insertFewRuns(system, count)}`.compile(system.db),
    runs: insertFewRuns(system, count).compile(system.db),
  })
  /** @returns false if the time of the statements is that of a test's clock, which is a parameter too */
  return async (row: Row, runs: readonly PlannedRun[], db: Kysely<SystemTables>): Promise<boolean> => {
    if (one.parameters.length !== row.length) return false
    const execute = ({ sql: text }: CompiledQuery, parameters: readonly unknown[], on = db) =>
      on.executeQuery(CompiledQuery.raw(text, [...parameters]))
    if (runs.length === 0) await execute(one, row)
    else {
      const statement = (withRuns[runs.length] ??= compile(runs.length))
      if (system.kind === 'postgresql') await execute(statement.all, [...row, ...runs.flat()])
      else {
        await inTransaction(system, db, async (trx) => {
          await execute(one, row, trx)
          await execute(statement.runs, runs.flat(), trx)
        })
      }
    }
    return true
  }
}

async function inTransaction(
  system: System,
  db: Kysely<SystemTables>,
  write: (trx: Kysely<SystemTables>) => Promise<void>,
): Promise<void> {
  await (db === system.db ? system.transaction(write) : write(db))
}
