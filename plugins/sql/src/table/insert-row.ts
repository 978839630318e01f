import type { OnConflict } from './insert-statements.ts'
import type { TablePlan } from './plan.ts'
import type { Access } from './row-conditions.ts'
import type { Reporting, Row, TableDatabase } from './run.ts'
import type { Input } from './statement-values.ts'
import { explainNone, findWritten, listWritten, nameInsert } from './written.ts'

/** What the inserted rows depend on. */
export interface Inserting {
  readonly input: Input
  readonly access: Access
  readonly context: Reporting
}

interface Inserted {
  readonly row: Row
  readonly isNew: boolean
}

/**
 * Inserts the body of a request, or with `upsert` changes the row that exists.
 * @throws a problem with status 400, 403, 404 or 409, or the violation of a constraint
 */
export async function insertRow(
  plan: TablePlan,
  database: TableDatabase,
  { input, access, context }: Inserting,
): Promise<Inserted> {
  const written = listWritten(plan, input.body)
  const references = findWritten(plan, written, input.body)
  const change = { access, written, references }
  const insert = async (conflict?: OnConflict) => {
    const named = { ...change, conflict }
    const [row] = await database.run(nameInsert(plan, named), (writer) => writer.insert(named), input)
    return row
  }
  if (plan.upsert === undefined) {
    const row = await insert()
    if (row !== undefined) return { row, isNew: true }
  } else {
    const inserted = await insert('ignore')
    if (inserted !== undefined) return { row: inserted, isNew: true }
    const changed = await insert('change')
    if (changed !== undefined) return { row: changed, isNew: false }
  }
  throw await explainNone(plan, database, { change, input, context })
}
