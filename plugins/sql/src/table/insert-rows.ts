import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseKind } from 'waypost'
import { makeRowsWriter } from './bulk-rows.ts'
import { assertDistinctStored, makeDistinctCheck } from './distinct-rows.ts'
import { insertRow, type Inserting } from './insert-row.ts'
import type { TablePlan } from './plan.ts'
import { isDeadlock, isErrorOfRow, placeContext, placeError, RowsMissing, type RowPlace } from './row-errors.ts'
import type { Row, TableDatabase } from './run.ts'
import { findWritten, listWritten, nameInsert } from './written.ts'

interface InsertingRows extends Inserting {
  readonly sent: readonly Row[]
  /** Where the list is in the body. */
  readonly at?: RowPlace
}

/** A row of a request, and its place there. */
interface SentRow {
  readonly place: RowPlace
  readonly body: Row
}

/** Rows that one statement inserts, because it has the same columns for all. */
interface RowGroup {
  readonly written: readonly string[]
  readonly rows: readonly SentRow[]
}

/**
 * Returns a function that inserts all rows of a request, or none, as if they were sent one after another. With `upsert` it
 * changes those that exist. It returns them in the order of the request.
 * @throws the error of one row, which names it
 */
export function makeRowsInsert(plan: TablePlan, kind: DatabaseKind) {
  const writeRows = makeRowsWriter(plan, kind)
  const assertDistinct = makeDistinctCheck(plan, kind)

  /** Inserts the rows by one statement for each group. */
  const insertGroups = async (
    database: TableDatabase,
    sent: readonly SentRow[],
    inserting: Inserting,
  ): Promise<readonly Row[]> => {
    const { input, access } = inserting
    const inserted: Row[] = []
    for (const { written, rows } of groupRows(plan, sent)) {
      if (written.length === 0) {
        for (const row of rows) inserted.push(await insertAt(plan, database, row, inserting))
        continue
      }
      const references = findWritten(plan, written, allSet(written))
      const change = { access, written, references, conflict: plan.upsert && ('change' as const) }
      const list = writeRows(
        rows.map(({ body }) => body),
        written,
      )
      const key = `rows ${nameInsert(plan, change)}`
      const found = await database.attempt(key, (writer) => writer.insertRows(change), { ...input, list })
      if (found.length !== rows.length) throw new RowsMissing()
      inserted.push(...found)
    }
    return inserted
  }

  /** Inserts the rows. If that fails because of one of them, repeats it with fewer until it is found. */
  const insertAll = async (
    database: TableDatabase,
    sent: readonly SentRow[],
    inserting: Inserting,
  ): Promise<readonly Row[]> => {
    const [first, ...others] = sent
    if (others.length === 0) return [await insertAt(plan, database, first!, inserting)]
    try {
      return await database.transaction((step) => insertGroups(step, sent, inserting))
    } catch (error) {
      if (!isErrorOfRow(error)) throw await database.explain(error, inserting.input)
    }
    const half = Math.ceil(sent.length / 2)
    return database.transaction(async (step) => [
      ...(await insertAll(step, sent.slice(0, half), inserting)),
      ...(await insertAll(step, sent.slice(half), inserting)),
    ])
  }

  return async (
    database: TableDatabase,
    { sent: bodies, at = [], ...inserting }: InsertingRows,
  ): Promise<readonly Row[]> => {
    const sent = bodies.map((body, index) => ({ body, place: [...at, index] }))
    if (plan.upsert === undefined) return repeatAfterDeadlock(() => insertAll(database, sent, inserting))
    assertDistinct(bodies)
    return repeatAfterDeadlock(() =>
      database.transaction(async (step) => {
        const rows = await insertAll(step, sent, inserting)
        assertDistinctStored(plan, rows)
        return rows
      }),
    )
  }
}

const maxAttempts = 5

/** Repeats work that PostgreSQL ended because of others that waited for it while it waited for them. */
async function repeatAfterDeadlock<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isDeadlock(error) || attempt === maxAttempts) throw error
    }
    await delay(Math.random() * 10 * 2 ** attempt) // the others repeat it too
  }
}

async function insertAt(
  plan: TablePlan,
  database: TableDatabase,
  { place, body }: SentRow,
  { input, access, context }: Inserting,
): Promise<Row> {
  try {
    const placed = placeContext(context, place)
    const own = { input: { ...input, body }, access, context: placed }
    return (await insertRow(plan, database.reportTo(placed), own)).row
  } catch (error) {
    throw placeError(error, place)
  }
}

/**
 * Groups rows that follow each other by their columns: what a row does not have gets the default of its column, which only
 * the database knows. Generated keys then have the order of the rows.
 */
function groupRows(plan: TablePlan, sent: readonly SentRow[]): readonly RowGroup[] {
  const groups: { written: readonly string[]; rows: SentRow[] }[] = []
  for (const row of sent) {
    const written = listWritten(plan, row.body)
    const last = groups.at(-1)
    if (last !== undefined && isSame(last.written, written)) last.rows.push(row)
    else groups.push({ written, rows: [row] })
  }
  return groups
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index])
}

/** A body that has a value for each column: which of several rows have one, the statement finds out. */
function allSet(written: readonly string[]): Row {
  return Object.fromEntries(written.map((name) => [name, true]))
}
