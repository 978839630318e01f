import type { ColumnSnapshot, DatabaseKind } from '../../contract/index.ts'
import { sqliteDecimal } from '../../tables/index.ts'
import type { Column } from './introspect.ts'

const typesByName: ReadonlyMap<string, ColumnSnapshot['type']> = new Map(
  Object.entries({
    integer: 'int int2 int4 integer tinyint smallint mediumint serial',
    bigint: 'int8 bigint bigserial',
    number: 'real float float4 float8 double double_precision numeric decimal',
    text: 'text clob varchar char bpchar character character_varying nchar nvarchar',
    boolean: 'bool boolean',
    timestamp: 'timestamp timestamptz datetime timestamp_text',
    date: 'date',
    json: 'json jsonb json_text',
    uuid: 'uuid',
    bytes: 'bytea blob binary varbinary',
  } satisfies Partial<Record<ColumnSnapshot['type'], string>>).flatMap(([type, names]) =>
    names.split(' ').map((name) => [name.replace(/_(?!text)/, ' '), type as ColumnSnapshot['type']] as const),
  ),
)

/** Where a column is. */
export interface TypePlace {
  readonly kind: DatabaseKind
  readonly isView: boolean
  /** Whether migrations of Waypost made the tables. */
  readonly isOwn: boolean
}

type Described = Pick<ColumnSnapshot, 'type' | 'length' | 'as' | 'values' | 'precision' | 'scale' | 'items'>

/** Describes the type of a column by its name in the database. */
export function describeType(column: Column, { kind, isView, isOwn }: TypePlace): Described {
  const { type: name, modifiers, isId, isWide, values } = column
  if (isId) return { type: 'id' }
  if (values) return { type: 'enum', ...(!typesByName.has(name) && { as: name }), values }
  if (name === sqliteDecimal || column.isExact) {
    const [precision = 0, scale = 0] = modifiers.split(',').map(Number)
    return { type: 'numeric', precision, ...(scale > 0 && { scale }) }
  }
  const type = typesByName.get(name)
  if (type === undefined) return describeOther(column, kind === 'postgresql' || isOwn)
  // A view of SQLite does not show whether its column is an id or an integer.
  if (type === 'integer' && (isView || isWide)) return { type: 'bigint' }
  if (name === 'numeric' || name === 'decimal')
    return { type, as: modifiers === '' ? 'numeric' : `numeric(${modifiers.replace(/,0$/, '')})` }
  return type === 'text' && /^\d+$/.test(modifiers) ? { type, length: Number(modifiers) } : { type }
}

/** @param isPostgres whether the type is one of PostgreSQL: migrations may declare one on SQLite too */
function describeOther({ type: name, item }: Column, isPostgres: boolean): Described {
  const as = nameOther(name)
  if (!isPostgres || name === '') return { type: 'other', as }
  if (!as.endsWith('[]')) return { type: 'literal', as }
  const itemName = as.slice(0, -2)
  const { type, ...rest } = describeType(
    { ...itemColumn, type: itemName, values: item?.values ?? null },
    { kind: 'postgresql', isView: false, isOwn: true },
  )
  const isPlain = type !== 'other' && type !== 'array'
  return isPlain ? { type: 'array', as, items: { type, ...rest } } : { type: 'other', as }
}

const itemColumn = { name: '', isNullable: false, modifiers: '', isGenerated: false, isId: false, isComputed: false }

const arrayItems: Readonly<Record<string, string>> = {
  smallint: 'int2',
  integer: 'int4',
  bigint: 'int8',
  boolean: 'bool',
  'double precision': 'float8',
}

/** PostgreSQL names an array `_int4`, and SQLite as the migration did, for example `integer[]`. */
function nameOther(type: string): string {
  if (type.startsWith('_')) return `${type.slice(1)}[]`
  const item = type.endsWith('[]') ? type.slice(0, -2) : undefined
  return item === undefined ? type : `${arrayItems[item] ?? item}[]`
}
