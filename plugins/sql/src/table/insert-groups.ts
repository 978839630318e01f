import type { DatabaseKind } from 'waypost'
import { makeRowsWriter } from './bulk-rows.ts'
import { insertRow, type Inserting } from './insert-row.ts'
import type { TablePlan } from './plan.ts'
import { isUnsupported, placeContext, placeError, RowsMissing, type RowPlace } from './row-errors.ts'
import type { Row, TableDatabase } from './run.ts'
import { findWritten, hasWritten, listWritten, nameInsert } from './written.ts'

/** Rows that follow each other in a request. */
export interface SentRows {
  readonly bodies: readonly Row[]
  /** The position of the first of them in the list. */
  readonly first: number
  /** Where the list is in the body. */
  readonly at: RowPlace
}

/** Rows that one statement inserts, because it has the same columns for all. */
interface RowGroup extends SentRows {
  readonly written: readonly string[]
  /** Whether the statement fails unless it inserts all of them. */
  readonly isWhole?: boolean
}

/** Inserts rows. @throws the error of the database, or RowsMissing, which do not say for which row */
export type GroupsInsert = (database: TableDatabase, sent: SentRows, inserting: Inserting) => Promise<readonly Row[]>

/** Returns a function that inserts rows by one statement for each group, all or none of them. */
export function makeGroupsInsert(plan: TablePlan, kind: DatabaseKind): GroupsInsert {
  const writeRows = makeRowsWriter(plan, { kind })
  let canBeWhole = kind === 'postgresql'

  const insertGroup = async (
    database: TableDatabase,
    { written, bodies, isWhole = false }: RowGroup,
    { input, access }: Inserting,
  ): Promise<readonly Row[]> => {
    const references = findWritten(plan, written, allSet(written))
    const change = { access, written, references, conflict: plan.upsert && ('change' as const), isWhole }
    const list = { texts: writeRows(bodies, written), length: bodies.length }
    const key = `${isWhole ? 'all ' : ''}rows ${nameInsert(plan, change)}`
    const found = await database.attempt(key, (writer) => writer.insertRows(change), { ...input, list })
    if (found.length !== bodies.length) throw new RowsMissing()
    return found
  }

  const insertGroups = async (database: TableDatabase, groups: readonly RowGroup[], inserting: Inserting) => {
    const inserted: (readonly Row[])[] = []
    for (const group of groups) {
      if (group.written.length > 0) inserted.push(await insertGroup(database, group, inserting))
      else
        for (const index of group.bodies.keys())
          inserted.push([await insertAt(plan, database, sliceRows(group, index, index + 1), inserting)])
    }
    return inserted.length === 1 ? inserted[0]! : inserted.flat()
  }

  return async (database, sent, inserting) => {
    const groups = groupRows(plan, sent)
    const [group, ...others] = groups
    // A statement of its own needs no transaction.
    if (canBeWhole && !database.isTransaction && others.length === 0 && group!.written.length > 0)
      try {
        return await insertGroup(database, { ...group!, isWhole: true }, inserting)
      } catch (error) {
        if (!isUnsupported(error)) throw error
        canBeWhole = false
      }
    return database.transaction((step) => insertGroups(step, groups, inserting))
  }
}

/** Inserts the only one of the rows. @throws its error, with its place */
export async function insertAt(
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

export function sliceRows({ bodies, first, at }: SentRows, start: number, end: number): SentRows {
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
