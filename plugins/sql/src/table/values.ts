import type { DatabaseKind } from 'waypost'
import type { PlanColumn } from './plan.ts'
import { compareTime, storeTime } from './time-form.ts'
import type { Reject } from './value-rules.ts'
import { valueTypes } from './value-types.ts'

/** A value of a request that matches its schema and that no database can store. */
export class InvalidValue extends Error {}

/** Converts a value of a request for a statement. @throws InvalidValue */
export type Bind = (value: unknown) => unknown

/**
 * What a value is for: SQLite compares times as text, so all that are stored must have the same form. A limit that a form
 * cannot represent is compared as the last value before it, or the first one after it.
 */
export type BindUse = 'store' | 'compare' | 'floor' | 'ceil'

export interface BindOptions {
  readonly kind: DatabaseKind
  readonly use?: BindUse
}

/** Returns the conversion of a column's values. The values match the schema of the column. */
export function makeBind(name: string, column: PlanColumn, { kind, use = 'compare' }: BindOptions): Bind {
  const reject: Reject = (expected) => {
    throw new InvalidValue(`"${name}" must be ${expected}`)
  }
  const hasMicroseconds = kind === 'postgresql' || use !== 'store' || column.form !== undefined
  const plain = valueTypes[column.type].bind?.({ column, reject, kind, hasMicroseconds }) ?? ((value: unknown) => value)
  const bind = kind === 'postgresql' || column.type !== 'timestamp' ? plain : makeFormBind(column, plain, use)
  // Null in a JSON column that does not allow it is the JSON value null.
  return (value) => (value === null && (column.type !== 'json' || column.null) ? null : bind(value))
}

function makeFormBind({ form, written }: PlanColumn, plain: Bind, use: BindUse): Bind {
  if (form === undefined) return plain
  const stored = form === 'mixed' ? written! : form
  if (use === 'store') return (value) => storeTime(stored, plain(value) as string)
  return (value) => compareTime(form, plain(value) as string, use === 'compare' ? 'exact' : use)
}
