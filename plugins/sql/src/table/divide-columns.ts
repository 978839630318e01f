import type { TablePlan, ValueType } from './plan.ts'
import type { BindUse } from './values.ts'

/**
 * The types of PostgreSQL that lists of values have. An insert converts them to the type of the column, as it converts the
 * text of a value. Of other values only the table knows the type.
 */
const listTypes: Readonly<Partial<Record<ValueType, string>>> = {
  id: 'bigint',
  integer: 'bigint',
  bigint: 'bigint',
  number: 'numeric', // with all digits, for a column of this type
  numeric: 'numeric',
  boolean: 'boolean',
  text: 'text',
  json: 'text',
  uuid: 'uuid',
  date: 'date',
  timestamp: 'timestamptz',
  bytes: 'bytea',
}
/** A `char(3)` that is compared with a text, or a `real` with a decimal, would differ from what an insert makes of them. */
const comparedAsColumns: ReadonlySet<ValueType> = new Set(['text', 'number'])

interface ListColumn {
  readonly name: string
  readonly type: string
}

/** Returns the columns whose values are lists, and those whose values are in objects. */
export function divideColumns({ types, references = [] }: TablePlan, columns: readonly string[], use: BindUse) {
  const isCompared = (name: string) => use === 'compare' || references.some((one) => one.columns.includes(name))
  const lists: ListColumn[] = []
  const others: string[] = []
  for (const name of columns) {
    const { type, items } = types[name]!
    const listType = items?.type === 'json' ? 'text' : listTypes[type]
    if (listType === undefined || (comparedAsColumns.has(type) && isCompared(name))) others.push(name)
    else lists.push({ name, type: listType })
  }
  return { lists, others }
}
