import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseKind } from 'waypost'
import { assertDistinctStored, makeDistinctCheck } from './distinct-rows.ts'
import { insertAt, makeGroupsInsert, sliceRows, type SentRows } from './insert-groups.ts'
import type { Inserting } from './insert-row.ts'
import type { TablePlan } from './plan.ts'
import { isDeadlock, isErrorOfRow, type RowPlace } from './row-errors.ts'
import type { Row, TableDatabase } from './run.ts'

interface InsertingRows extends Inserting {
  readonly sent: readonly Row[]
  /** Where the list is in the body. */
  readonly at?: RowPlace
}

/**
 * Returns a function that inserts all rows of a request, or none, as if they were sent one after another. With `upsert` it
 * changes those that exist. It returns them in the order of the request.
 * @throws the error of one row, which names it
 */
export function makeRowsInsert(plan: TablePlan, kind: DatabaseKind) {
  const insertGroups = makeGroupsInsert(plan, kind)
  const assertDistinct = makeDistinctCheck(plan, kind)

  /** Inserts the rows. If that fails because of one of them, repeats it with fewer until it is found. */
  const insertAll = async (database: TableDatabase, sent: SentRows, inserting: Inserting): Promise<readonly Row[]> => {
    const { length } = sent.bodies
    if (length === 1) return [await insertAt(plan, database, sent, inserting)]
    try {
      return await insertGroups(database, sent, inserting)
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
