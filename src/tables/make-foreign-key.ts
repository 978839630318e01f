import type { ColumnSnapshot, ForeignKeySnapshot, TableSnapshot } from '../contract/index.ts'
import { nearest } from '../kit/index.ts'
import { parseReference } from './names.ts'
import { hasList, isSameList, type StepContext } from './step-context.ts'
import type { ColumnDeclaration } from './steps.ts'

interface Referring {
  readonly name: string
  readonly column: ColumnDeclaration
}

/** Returns the foreign key of a column, if it has one. */
export function makeForeignKey(
  { name, column }: Referring,
  path: readonly string[],
  context: StepContext,
): readonly ForeignKeySnapshot[] {
  const { references, on_delete: onDelete } = column
  reportOnDelete(column, [...path, 'on_delete'], context)
  if (references === undefined) return []
  const at = [...path, 'references']
  const { table, column: named } = parseReference(references)
  if (table.includes('.') && context.isSqlite) {
    context.report(at, `"${table}" is a table of another schema, which SQLite does not have`)
    return []
  }
  const target = findTarget(table, at, context)
  if (target === undefined) return []
  const to = named ?? (target.key?.length === 1 ? target.key[0]! : undefined)
  if (to === undefined) {
    context.report(at, `The table "${table}" has no key of one column`, `Name a column: ${table}.COLUMN`)
    return []
  }
  const referred = Object.hasOwn(target.columns, to) ? target.columns[to]! : undefined
  const isUnique = isSameList(target.key ?? [], [to]) || hasList(target.unique, [to])
  if (referred === undefined) context.missing(at, `The table "${table}" has no column "${to}"`)
  else if (!isUnique) context.missing(at, `"${table}.${to}" is not unique`, 'Refer to a key or a unique column')
  else if (familyOf(referred) !== familyOf(column))
    context.report(at, `"${name}" has the type ${column.type}, but "${table}.${to}" has the type ${referred.type}`)
  return [{ columns: [name], table, to: [to], ...(onDelete && { on_delete: onDelete }) }]
}

function reportOnDelete(column: ColumnDeclaration, at: readonly string[], { report }: StepContext): void {
  const { references, on_delete: onDelete, null: isNullable, default: fallback } = column
  if (onDelete !== undefined && references === undefined) report(at, '"on_delete" needs "references"')
  if (onDelete === 'set null' && !isNullable) report(at, '"set null" needs "null: true"')
  if (onDelete === 'set default' && fallback === undefined) report(at, '"set default" needs a default')
}

function findTarget(table: string, at: readonly string[], { tables, missing }: StepContext): TableSnapshot | undefined {
  const target = tables.get(table)
  if (target !== undefined) return target
  const near = nearest(table, [...tables.keys()])
  missing(at, `Unknown table "${table}"`, near && `Did you mean "${near}"?`)
  return undefined
}

/** Integers of all sizes can refer to each other. */
function familyOf({ type, scale = 0 }: Pick<ColumnSnapshot, 'type' | 'scale'>): string {
  if (type === 'numeric') return `numeric of scale ${scale}`
  if (type === 'enum') return 'text'
  return type === 'id' || type === 'bigint' ? 'integer' : type
}
