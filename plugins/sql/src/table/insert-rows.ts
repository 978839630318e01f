import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseKind } from 'waypost'
import { makeRowsWriter } from './bulk-rows.ts'
import { assertDistinctStored, makeDistinctCheck } from './distinct-rows.ts'
import { insertRow, type Inserting } from './insert-row.ts'
import type { TablePlan } from './plan.ts'
import { isDeadlock, isErrorOfRow, placeContext, placeError, RowsMissing, type RowPlace } from './row-errors.ts'
import type { Row, TableDatabase } from './run.ts'
import { findWritten, hasWritten, listWritten, nameInsert } from './written.ts'

interface InsertingRows extends Inserting {
  readonly sent: readonly Row[]
  /** Where the list is in the body. */
  readonly at?: RowPlace
}

/** Rows that follow each other in a request. */
interface SentRows {
  readonly bodies: readonly Row[]
  /** The position of the first of them in the list. */
  readonly first: number
  /** Where the list is in the body. */
  readonly at: RowPlace
}

/** Rows that one statement inserts, because it has the same columns for all. */
interface RowGroup extends SentRows {
  readonly written: readonly string[]
}

/**
 * Returns a function that inserts all rows of a request, or none, as if they were sent one after another. With `upsert` it
 * changes those that exist. It returns them in the order of the request.
 * @throws the error of one row, which names it
 */
export function makeRowsInsert(plan: TablePlan, kind: DatabaseKind) {
  const writeRows = makeRowsWriter(plan, kind)
  const assertDistinct = makeDistinctCheck(plan, kind)

  /** Inserts the rows of a group by one statement. */
  const insertGroup = async (
    database: TableDatabase,
    { written, bodies }: RowGroup,
    { input, access }: Inserting,
  ): Promise<readonly Row[]> => {
    const references = findWritten(plan, written, allSet(written))
    const change = { access, written, references, conflict: plan.upsert && ('change' as const) }
    const list = { text: writeRows(bodies, written), length: bodies.length }
    const key = `rows ${nameInsert(plan, change)}`
    const found = await database.attempt(key, (writer) => writer.insertRows(change), { ...input, list })
    if (found.length !== bodies.length) throw new RowsMissing()
    return found
  }

  const insertGroups = async (
    database: TableDatabase,
    groups: readonly RowGroup[],
    inserting: Inserting,
  ): Promise<readonly Row[]> => {
    const inserted: (readonly Row[])[] = []
    for (const group of groups) {
      if (group.written.length > 0) inserted.push(await insertGroup(database, group, inserting))
      else
        for (const index of group.bodies.keys()) {
          inserted.push([await insertAt(plan, database, sliceRows(group, index, index + 1), inserting)])
        }
    }
    return inserted.length === 1 ? inserted[0]! : inserted.flat()
  }

  /** Inserts the rows. If that fails because of one of them, repeats it with fewer until it is found. */
  const insertAll = async (database: TableDatabase, sent: SentRows, inserting: Inserting): Promise<readonly Row[]> => {
    const { length } = sent.bodies
    if (length === 1) return [await insertAt(plan, database, sent, inserting)]
    try {
      const groups = groupRows(plan, sent)
      return await database.transaction((step) => insertGroups(step, groups, inserting))
    } catch (error) {
      if (!isErrorOfRow(error)) throw await database.explain(error, inserting.input)
    }
    const half = Math.ceil(length / 2)
    return database.transaction(async (step) => [
      ...(await insertAll(step, sliceRows(sent, 0, half), inserting)),
      ...(await insertAll(step, sliceRows(sent, half, length), inserting)),
    ])
  }

  return async (
    database: TableDatabase,
    { sent: bodies, at = [], ...inserting }: InsertingRows,
  ): Promise<readonly Row[]> => {
    const sent: SentRows = { bodies, first: 0, at }
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

/** Inserts the only one of the rows. */
async function insertAt(
  plan: TablePlan,
  database: TableDatabase,
  { bodies, first, at }: SentRows,
  { input, access, context }: Inserting,
): Promise<Row> {
  const place = [...at, first]
  try {
    const placed = placeContext(context, place)
    const own = { input: { ...input, body: bodies[0]! }, access, context: placed }
    return (await insertRow(plan, database.reportTo(placed), own)).row
  } catch (error) {
    throw placeError(error, place)
  }
}

function sliceRows({ bodies, first, at }: SentRows, start: number, end: number): SentRows {
  return { bodies: bodies.slice(start, end), first: first + start, at }
}

/**
 * Groups rows that follow each other by their columns: what a row does not have gets the default of its column, which only
 * the database knows. Generated keys then have the order of the rows.
 */
function groupRows(plan: TablePlan, sent: SentRows): readonly RowGroup[] {
  const { bodies } = sent
  const groups: RowGroup[] = []
  for (let start = 0; start < bodies.length;) {
    const written = listWritten(plan, bodies[start]!)
    let end = start + 1
    while (end < bodies.length && hasWritten(plan, bodies[end]!, written)) end += 1
    groups.push({ ...(end - start === bodies.length ? sent : sliceRows(sent, start, end)), written })
    start = end
  }
  return groups
}

/** A body that has a value for each column: which of several rows have one, the statement finds out. */
function allSet(written: readonly string[]): Row {
  return Object.fromEntries(written.map((name) => [name, true]))
}
