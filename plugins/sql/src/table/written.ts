import { makeBrokenReference, makeTaken } from './broken-reference.ts'
import type { InsertChange } from './insert-statements.ts'
import type { ReferencePlan, TablePlan } from './plan.ts'
import { notFound } from './respond-row.ts'
import { makeSuppressed, type Reporting, type Row, type TableDatabase } from './run.ts'
import type { Input } from './statement-values.ts'
import type { ChangeCondition } from './row-conditions.ts'
import { isTrue, type StatementWriter } from './statements.ts'

/** Returns the references that a request writes, except those to no row. */
export function findWritten(
  { references = [], set }: TablePlan,
  written: readonly string[],
  body: Row,
): readonly ReferencePlan[] {
  return references.filter(({ columns, inPath }) => {
    const own = columns.filter((name) => written.includes(name))
    const isWritten = own.length > 0 || columns.some((name) => Object.hasOwn(set, name))
    return inPath || (isWritten && own.every((name) => Object.hasOwn(body, name) && body[name] !== null))
  })
}

/** Names the statement of a change. */
export function nameChange(
  { references: all = [] }: TablePlan,
  { access, written, versions, references }: ChangeCondition,
): string {
  return JSON.stringify([access, versions, written, references.map((one) => all.indexOf(one))])
}

interface Missing {
  readonly references: readonly ReferencePlan[]
  /** Whether the row of each exists for the caller, by index. */
  readonly seen: Row
  readonly context: Reporting
}

/**
 * Returns the error for a reference to a row of another user: the same as for a row that does not exist; undefined if each
 * row that it refers to exists, which may just have been added.
 */
export function explainMissing(plan: TablePlan, { references, seen, context }: Missing): Error | undefined {
  const missing = references.filter((_, index) => !isTrue(seen[index]))
  const first = missing.find(({ inPath }) => inPath) ?? missing[0]
  if (first === undefined) return undefined
  return first.inPath ? notFound(context) : makeBrokenReference(plan.table, first.columns)
}

/** Returns the columns of a new row that a statement names: those without a default, so that there are few statements. */
export function listWritten({ write, types, upsert }: TablePlan, body: Row): readonly string[] {
  // An upsert must not change what is not sent.
  return write.filter((name) => Object.hasOwn(body, name) || (upsert === undefined && !types[name]!.default))
}

/** Whether a body has the columns that `listWritten` has returned for another one. */
export function hasWritten({ write, types, upsert }: TablePlan, body: Row, written: readonly string[]): boolean {
  let index = 0
  for (const name of write) {
    const isWritten = Object.hasOwn(body, name) || (upsert === undefined && !types[name]!.default)
    if (isWritten !== (written[index] === name)) return false
    if (isWritten) index += 1
  }
  return true
}

/** Names the statement of an insert. */
export function nameInsert(plan: TablePlan, change: InsertChange): string {
  return `insert ${change.conflict ?? ''} ${nameChange(plan, change)}`
}

interface Unwritten {
  readonly change: ChangeCondition
  readonly input: Input
  readonly context: Reporting
}

/** Returns the error of an insert that returned no row. */
export async function explainNone(
  plan: TablePlan,
  database: TableDatabase,
  { change, input, context }: Unwritten,
): Promise<Error> {
  const { access, written, references } = change
  if (references.length > 0) {
    const check = (writer: StatementWriter) => writer.findReferences(references, written, access)
    const [seen] = await database.run(`find ${nameChange(plan, change)}`, check, input)
    const missing = explainMissing(plan, { references, seen: seen!, context })
    if (missing !== undefined) return missing
  }
  // The row that exists is not one that the caller may change.
  return plan.upsert === undefined ? makeSuppressed(plan, context) : makeTaken(plan.table, plan.upsert.columns)
}
