import type {
  ActionClass,
  ActionDescription,
  ColumnSnapshot,
  DatabaseKind,
  Databases,
  TableSnapshot,
  TablesSnapshot,
} from '../../contract/index.ts'
import type { ManifestMethod } from '../../release/index.ts'

/** What the pages do with the rows of a table, each by a method of the class `sql-table`. */
export const rowOperations = ['list', 'read', 'insert', 'change', 'delete'] as const
export type RowOperation = (typeof rowOperations)[number]

/** A table of a connection. */
export interface TablePlace {
  readonly connection: string
  readonly name: string
  readonly tables: TablesSnapshot
  readonly databases: Databases
}

/** How a table is described to the class `sql-table`. */
export interface DescribedRows {
  readonly table: TableSnapshot
  /** The columns that identify a row. */
  readonly key: readonly string[]
  /** The column of the database itself that identifies a row of a table without a key. */
  readonly internal: string | undefined
  /** The columns that are shown. */
  readonly columns: readonly string[]
  /** The columns that are not, with the reason. */
  readonly hidden: readonly { readonly name: string; readonly reason: string }[]
  /** The columns that a row can be given. */
  readonly writable: readonly string[]
  readonly sortable: readonly string[]
  /** The columns in which `q` finds words. */
  readonly search: readonly string[]
  /** The operators by which a list can be filtered, by column. */
  readonly filters: Readonly<Record<string, readonly string[]>>
  readonly methods: Readonly<Record<RowOperation, DescribedRowMethod>>
  /** Describes how lists of rows are inserted; those with the same values in these columns are changed. */
  describeImport(upsert: readonly string[]): DescribedRowMethod
}

/** A method, or why rows of the table cannot be changed so. */
export type DescribedRowMethod =
  | { readonly method: ManifestMethod; readonly path: string }
  | { readonly problem: string }

export const rowsPerPage = 50
/** The rows that an export reads at once. */
export const maxRowsPerPage = 1000
/** The rows that an import inserts at once. */
export const rowsPerBatch = 500
/** All columns of a row have at most as many bytes as an import accepts for one value. */
const jsonLimits = { max_bytes: 1024 * 1024, max_depth: 100, max_values: 100_000 }

/** Plans the methods for all columns of a table: no owner, every column can be sorted and filtered by. */
export function describeRows(describe: NonNullable<ActionClass['describe']>, place: TablePlace): DescribedRows {
  const kind = place.databases[place.connection]
  const { table, key, internal } = identifyRows(place.tables.tables[place.name]!, kind)
  const tables = { [place.connection]: { tables: { ...place.tables.tables, [place.name]: table } } }
  const probe = makeProbe(describe, { ...place, all: tables, key })
  const found = Object.keys(table.columns).map((name) => ({ name, ...probe(name) }))
  const hidden = found.flatMap(({ name, reason }) => (reason === undefined ? [] : [{ name, reason }]))
  const shown = found.filter(({ reason }) => reason === undefined)
  const columns = shown.map(({ name }) => name)
  const sortable = shown.filter((one) => one.isSortable).map(({ name }) => name)
  const writable = columns.filter((name) => name !== internal && isWritable(table.columns[name]!))
  const search = Object.hasOwn(table.columns, 'q')
    ? []
    : (table.search?.columns.filter((one) => columns.includes(one)) ?? [])
  const config = {
    connection: place.connection,
    table: place.name,
    columns,
    ...((table.key ?? []).length === 0 && { key: key.length === 0 ? sortable : key }),
    ...(table.view !== true && { write: writable }),
    sortable,
    filter: shown.filter((one) => one.isFilterable).map(({ name }) => name),
    limit: { default: rowsPerPage, max: maxRowsPerPage },
    ...(search.length > 0 && { search }),
    ...makeJsonLimits(table, columns),
  }
  const methodOf = (operation: RowOperation, more: object = {}): DescribedRowMethod => {
    const [method, path] = placeOf(operation, key)
    if (operation !== 'list' && table.view === true) return { problem: 'It is a view' }
    if (operation !== 'list' && operation !== 'insert' && key.length === 0)
      return { problem: 'No column identifies a row' }
    const described = describe({ ...config, ...more }, { ...use, method, path, databases: place.databases }, tables)
    const problem = described.problems?.find(({ severity }) => severity !== 'warning')
    return problem === undefined
      ? { method: toMethod(described, method, { ...config, ...more }), path }
      : { problem: problem.message }
  }
  const methods = Object.fromEntries(rowOperations.map((one) => [one, methodOf(one)])) as DescribedRows['methods']
  const filters = listFilters(methods.list)
  const describeImport = (upsert: readonly string[]) =>
    methodOf('insert', { bulk: rowsPerBatch, ...(upsert.length > 0 && { upsert }) })
  return { table, key, internal, columns, hidden, writable, sortable, search, filters, methods, describeImport }
}

/** Finds what identifies a row: the key, a unique constraint without nulls, or the place where the database stores it. */
function identifyRows(
  table: TableSnapshot,
  kind: DatabaseKind | undefined,
): Pick<DescribedRows, 'table' | 'key' | 'internal'> {
  const { columns } = table
  const isClear = (names: readonly string[]) => names.every((name) => !name.includes('/'))
  if ((table.key ?? []).length > 0) return { table, key: table.key!, internal: undefined }
  if (table.view === true) return { table, key: [], internal: undefined }
  const unique = table.unique?.find((names) => isClear(names) && names.every((name) => columns[name]?.null !== true))
  if (unique !== undefined) return { table, key: unique, internal: undefined }
  const own = { postgresql: ['ctid'], sqlite: ['rowid', '_rowid_', 'oid'] }[kind ?? 'sqlite']
  const internal = own.find((name) => !Object.keys(columns).some((one) => one.toLowerCase() === name))
  if (internal === undefined) return { table, key: [], internal }
  const column: ColumnSnapshot = kind === 'postgresql' ? { type: 'text', default: true } : { type: 'id' }
  return { table: { ...table, columns: { ...columns, [internal]: column } }, key: [internal], internal }
}

/** What the class supports of a column. */
interface Support {
  /** Why it cannot be shown. */
  readonly reason: string | undefined
  readonly isSortable: boolean
  readonly isFilterable: boolean
}

interface Probed extends TablePlace {
  readonly all: Readonly<Record<string, TablesSnapshot>>
  readonly key: readonly string[]
}

/** Returns a function that finds out what the class supports of a column. */
function makeProbe(
  describe: NonNullable<ActionClass['describe']>,
  { connection, name: table, databases, all, key }: Probed,
) {
  return (name: string): Support => {
    const config = { connection, table, columns: [name], sortable: [name], filter: [name] }
    const keyed = {
      ...config,
      ...((all[connection]!.tables[table]!.key ?? []).length === 0 && { key: key.length === 0 ? [name] : key }),
    }
    const { problems = [] } = describe(keyed, { ...use, method: 'GET', path: '/row', databases }, all)
    const problemAt = (at: string) => problems.find((one) => one.at === at && one.severity !== 'warning')?.message
    return {
      reason: problemAt('/columns/0'),
      isSortable: problemAt('/sortable/0') === undefined,
      isFilterable: problemAt('/filter/0') === undefined && isFilterable(name),
    }
  }
}

/** No route of the project: its actions have no rules for the rows that are shown here. */
const use = {
  public: false,
  declared: { responses: {} },
  schemas: {},
  events: {},
  connections: {},
  actions: {},
  methods: {},
} as const

function isWritable({ generated, form, written }: ColumnSnapshot): boolean {
  return generated !== true && (form !== 'mixed' || written !== undefined)
}

/** A name with a dot could be that of a filter with an operator. */
function isFilterable(name: string): boolean {
  return !name.includes('.') && !reserved.has(name)
}

/** The names of query parameters of lists that are not filters. */
const reserved: ReadonlySet<string> = new Set(['sort', 'limit', 'after', 'count', 'q', 'rank', 'any', 'embed'])

/** Reads the operators from the parameters of a list: `price` and `price.gt`. */
function listFilters(list: DescribedRowMethod): DescribedRows['filters'] {
  const query = 'problem' in list ? undefined : list.method.query
  const names = Object.keys((query as { readonly properties?: object } | undefined)?.properties ?? {})
  const parts = names.filter((name) => !reserved.has(name)).map((name) => name.split('.'))
  const byColumn = Map.groupBy(parts, ([column]) => column!)
  return Object.fromEntries([...byColumn].map(([column, own]) => [column, own.map(([, operator = 'eq']) => operator)]))
}

function makeJsonLimits({ columns: all }: TableSnapshot, columns: readonly string[]) {
  const names = columns.filter((name) => all[name]!.type === 'json')
  return names.length === 0 ? {} : { json: Object.fromEntries(names.map((name) => [name, jsonLimits])) }
}

function placeOf(operation: RowOperation, key: readonly string[]): readonly [method: string, path: string] {
  if (operation === 'list') return ['GET', '/row']
  if (operation === 'insert') return ['POST', '/row']
  const method = { read: 'GET', change: 'PATCH', delete: 'DELETE' }[operation]
  return [method, ['/row', ...key.map((name) => `:${name}`)].join('/')]
}

function toMethod(
  { params, parameters, request, responses = {}, plan }: ActionDescription,
  method: string,
  config: Readonly<Record<string, unknown>>,
): ManifestMethod {
  return {
    method,
    public: false,
    scopes: ['backend.data'],
    ...(params !== undefined && { params }),
    ...(parameters !== undefined && { query: parameters }),
    ...(request !== undefined && { request }),
    responses,
    action: { class: 'sql-table', config, ...(plan !== undefined && { plan }) },
  }
}
