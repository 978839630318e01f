import type { ResponseOf, Input } from '../api/call.ts'

export type Design = NonNullable<
  Input<'POST /draft/migration'> extends { body: infer Body } ? Body : never
>['design'] & {}
export type DesignColumn = Design['columns'][number]
export type ColumnType = DesignColumn['type']
export type LoadedTable = NonNullable<ResponseOf<'GET /draft/table'>['table']>

/** A column in the form. */
export interface Row {
  /** Identifies the column in lists while its name changes. */
  readonly id: number
  readonly was?: string | undefined
  readonly name: string
  readonly type: ColumnType
  /** The length of a text, or the digits of a decimal: `10,2`. */
  readonly length: string
  readonly values: readonly string[]
  readonly default: string
  readonly isNull: boolean
  readonly isUnique: boolean
  /** Shown as `TABLE.COLUMN`. */
  readonly references: string
  /** The object of a reference to a table of another schema. */
  readonly target?: Exclude<DesignColumn['references'], string | undefined> | undefined
  readonly onDelete: string
  /** Whether only its name can change. */
  readonly isFixed: boolean
  readonly isRemoved: boolean
}

/** A table in the form. Lists contain the ids of columns. */
export interface TableState {
  readonly name: string
  readonly rows: readonly Row[]
  readonly key: readonly number[]
  readonly unique: readonly (readonly number[])[]
  readonly index: readonly (readonly number[])[]
  readonly search: readonly number[]
  /** Of the search. */
  readonly configuration?: string | undefined
}

let lastId = 0

export function makeRow(row: Partial<Row> = {}): Row {
  lastId += 1
  return {
    name: '', type: 'text', length: '', values: [], default: '', isNull: false, isUnique: false, references: '', onDelete: '',
    isFixed: false, isRemoved: false, ...row, id: lastId,
  } // prettier-ignore
}

export function newTable(): TableState {
  return {
    name: '',
    rows: [makeRow({ name: 'id', type: 'id' }), makeRow()],
    key: [],
    unique: [],
    index: [],
    search: [],
  }
}

export function toState({ design, fixed }: LoadedTable): TableState {
  const rows = design.columns.map((column) =>
    makeRow({
      was: column.was,
      name: column.name,
      type: column.type,
      length: showLength(column),
      values: column.values ?? [],
      default: showDefault(column.default),
      isNull: column.null === true,
      isUnique: column.unique === true,
      ...toReference(column.references),
      onDelete: column.on_delete ?? '',
      isFixed: fixed.includes(column.name),
    }),
  )
  const idOf = (name: string) => rows.find((row) => row.name === name)?.id ?? 0
  const idsOf = (lists: readonly (readonly string[])[]) => lists.map((list) => list.map(idOf))
  return {
    name: design.name,
    rows,
    key: design.key.map(idOf),
    unique: idsOf(design.unique),
    index: idsOf(design.index),
    search: (design.search?.columns ?? []).map(idOf),
    configuration: design.search?.configuration,
  }
}

export function toDesign({ name, rows, key, unique, index, search, configuration }: TableState): Design {
  const kept = rows.filter(({ isRemoved }) => !isRemoved)
  const nameOf = (id: number) => kept.find((row) => row.id === id)?.name
  const namesOf = (ids: readonly number[]) => ids.flatMap((id) => nameOf(id) ?? [])
  const listsOf = (lists: readonly (readonly number[])[]) => lists.map(namesOf).filter((list) => list.length > 0)
  const columns = kept.map((row): DesignColumn => {
    const length = Number(row.length)
    const [precision = 0, scale = 0] = row.length.split(',').map(Number)
    return {
      name: row.name,
      ...(row.was !== undefined && { was: row.was }),
      type: row.type,
      ...(row.type === 'text' && Number.isInteger(length) && length > 0 && { length }),
      ...(row.type === 'numeric' && precision > 0 && { precision, ...(scale > 0 && { scale }) }),
      ...(row.type === 'enum' && { values: [...row.values] }),
      ...(row.isNull && { null: true }),
      ...(row.default !== '' && { default: readDefault(row) }),
      ...(row.isUnique && { unique: true }),
      ...(row.references !== '' && { references: row.target ?? row.references }),
      ...(row.references !== '' && row.onDelete !== '' && { on_delete: row.onDelete as 'cascade' }),
    }
  })
  const searched = namesOf(search)
  return {
    name,
    columns,
    key: namesOf(key),
    unique: listsOf(unique),
    index: listsOf(index),
    ...(searched.length > 0 && { search: { columns: searched, ...(configuration && { configuration }) } }),
  }
}

function showLength({ length, precision, scale }: DesignColumn): string {
  if (precision !== undefined) return `${precision},${scale ?? 0}`
  return length === undefined ? '' : String(length)
}

function toReference(references: DesignColumn['references']): Pick<Row, 'references' | 'target'> {
  if (typeof references !== 'object') return { references: references ?? '' }
  return { references: `${references.table}.${references.column}`, target: references }
}

/** Returns the names of the columns and keys that differ; none for a new table. */
export function listColumnChanges(before: Design | undefined, after: Design): readonly string[] {
  if (before === undefined) return []
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
  const columns = after.columns.filter((column) => {
    const old = before.columns.find(({ name }) => name === column.was)
    return old === undefined || !isSame({ ...old, was: '' }, { ...column, was: '' })
  })
  const gone = before.columns.filter(({ name }) => after.columns.every(({ was }) => was !== name))
  const lists = (['key', 'unique', 'index', 'search'] as const).filter((part) => !isSame(before[part], after[part]))
  return [...[...columns, ...gone].map(({ name }) => name), ...lists]
}

function showDefault(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

/** Text that is not a value of the type stays text: the server says what it must be. */
function readDefault({ type, default: text }: Row): unknown {
  if (['text', 'timestamp', 'date', 'uuid', 'enum', 'numeric'].includes(type)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A name as it is typed: a space becomes an underscore. */
export function toName(text: string): string {
  return text.trimStart().replaceAll(/\s+/g, '_')
}

const numbers: ReadonlySet<ColumnType> = new Set(['integer', 'bigint', 'number'])

/** Keeps the default if it is a value of the other type too. */
export function withType(row: Row, type: ColumnType): Row {
  const keepsDefault = type === row.type || (numbers.has(type) && numbers.has(row.type))
  const length = type === 'numeric' ? '10,2' : ''
  return { ...row, type, ...(keepsDefault ? {} : { default: '', length }) }
}

/** A table that columns can reference. */
export interface ReferencedTable {
  readonly name: string
  /** Undefined if its key has several columns. */
  readonly key: { readonly type: ColumnType; readonly length: number | null } | undefined
}

/** A new column gets the type of the key, and a name after the table. */
export function withReference(row: Row, references: string, tables: readonly ReferencedTable[]): Row {
  const key = tables.find(({ name }) => name === references)?.key
  if (row.isFixed || key === undefined) return { ...row, references, target: undefined }
  const one = references
    .replace(/^app_(?=.)/, '')
    .replace(/ies$/, 'y')
    .replace(/(?<!s)s$/, '')
  const type = key.type === 'id' ? 'bigint' : key.type
  return {
    ...withType(row, type),
    references,
    target: undefined,
    length: key.length === null ? '' : String(key.length),
    name: row.name === '' ? `${one}_id` : row.name,
  }
}

/** Columns that many tables have. */
export const suggestions: readonly Pick<Row, 'name' | 'type' | 'default'>[] = [
  { name: 'status', type: 'integer', default: '1' },
  { name: 'insert_date', type: 'timestamp', default: 'now' },
  { name: 'user_id', type: 'uuid', default: '' },
  { name: 'version', type: 'integer', default: '1' },
]

export const columnTypes: readonly ColumnType[] = [
  'text', 'integer', 'bigint', 'number', 'numeric', 'boolean', 'enum', 'timestamp', 'date', 'uuid', 'json',
] // prettier-ignore
