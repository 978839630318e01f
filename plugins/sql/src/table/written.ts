import type { Context } from 'waypost'
import type { ReferencePlan, TablePlan } from './plan.ts'
import { notFound } from './respond-row.ts'
import { makeBrokenReference, type Row } from './run.ts'
import type { ChangeCondition } from './row-conditions.ts'
import { isTrue } from './statements.ts'

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
  readonly context: Context
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
