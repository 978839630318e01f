import { withExact } from './exact.ts'
import type { ActionUse, ColumnSnapshot, ConfigProblem, TableSnapshot, TablesSnapshot } from 'waypost'
import type { TableConfig } from './config.ts'
import { valueTypeOf, type Operation } from './plan.ts'

export type Report = (
  at: string,
  message: string,
  options?: Pick<ConfigProblem, 'hint' | 'severity' | 'unknown'>,
) => void

/** One method of a route with the table of its config. */
export interface TableUse {
  readonly config: TableConfig
  readonly use: ActionUse
  readonly connection: string
  readonly table: TableSnapshot
  /** The tables of the connection. */
  readonly snapshot: TablesSnapshot
  /** The columns that identify a row; empty if there are none. */
  readonly key: readonly string[]
  /** The names of the path parameters. */
  readonly params: readonly string[]
  readonly operation: Operation
  readonly report: Report
}

/** Finds the table of a config, and what the method does with it. Returns undefined if there is a problem. */
export function resolveTableUse(
  config: TableConfig,
  use: ActionUse,
  { tables, report }: { readonly tables: Readonly<Record<string, TablesSnapshot>>; readonly report: Report },
): TableUse | undefined {
  const { connection = 'System' } = config
  const found = findTable({ name: config.table, connection }, tables, report)
  if (found === undefined) return undefined
  const table = withExact(found, { config, isSqlite: use.databases[connection] === 'sqlite', report })
  const key = findKey(config, table, report)
  const params = use.path.split('/').flatMap((step) => (/^[:*]/.test(step) ? [step.slice(1)] : []))
  const operation = findOperation({ use, table, key, name: config.table }, report)
  return operation && { config, use, connection, table, snapshot: tables[connection]!, key, params, operation, report }
}

/**
 * Returns how another action serves its table, as far as its rows are read by this method.
 * @param report called for what does not work in this method
 */
export function makeOtherUse(own: TableUse, config: TableConfig, report: Report): TableUse | undefined {
  const { connection, snapshot, use } = own
  const found = findTable({ name: config.table, connection }, { [connection]: snapshot }, report)
  if (found === undefined) return undefined
  const table = withExact(found, { config, isSqlite: use.databases[connection] === 'sqlite', report })
  return { ...own, config, table, key: findKey(config, table, report), operation: 'list', report }
}

function findTable(
  { name, connection }: { readonly name: string; readonly connection: string },
  tables: Readonly<Record<string, TablesSnapshot>>,
  report: Report,
): TableSnapshot | undefined {
  if (/(?:^|\.)waypost_/i.test(name)) {
    report('/table', `The table "${name}" belongs to Waypost`, { hint: 'Use one of your own tables' })
    return undefined
  }
  const snapshot = Object.hasOwn(tables, connection) ? tables[connection]! : undefined
  if (snapshot === undefined) {
    report('/connection', `The tables of the connection "${connection}" are not known`, {
      hint: `Run waypost migrate --connection=${connection}, which writes migrations/${connection}/tables.json`,
    })
    return undefined
  }
  if (Object.hasOwn(snapshot.tables, name)) return snapshot.tables[name]
  const known = Object.keys(snapshot.tables)
  const hint = `Run waypost migrate, which writes migrations/${connection}/tables.json`
  report('/table', `Unknown table "${name}"`, { hint, unknown: { name, known } })
  return undefined
}

function findKey(config: TableConfig, table: TableSnapshot, report: Report): readonly string[] {
  const { key } = config
  const known = table.key ?? []
  if (key === undefined) {
    if (known.length === 0)
      report('/table', `"${config.table}" has no primary key`, {
        hint: 'Name the columns that identify a row in "key"',
      })
    for (const name of known) checkIdentifying(name, table, report, '/table')
    return known
  }
  const names = [key].flat()
  if (known.length > 0 && (names.length !== known.length || names.some((name) => !known.includes(name))))
    report('/key', `The key of "${config.table}" is ${known.join(', ')}`, { hint: 'Remove "key"' })
  return names.filter((name, index) => {
    const at = `/key${Array.isArray(key) ? `/${index}` : ''}`
    return checkColumn(name, table, report, at) && checkIdentifying(name, table, report, at)
  })
}

/** Reports a key column in which the same time can have several forms, so that it may be the key of several rows. */
function checkIdentifying(name: string, table: TableSnapshot, report: Report, at: string): boolean {
  const column = columnOf(table, name)
  if (column?.form !== 'mixed') return true
  report(at, `The ${column.type === 'date' ? 'dates' : 'times'} in the key column "${name}" have several forms`, {
    hint: 'Change the rows to one form, then run waypost migrate again',
  })
  return false
}

/**
 * Returns the columns of a table as callers see them: a `bigint` that refers to an `id`, also through other tables, has its
 * type, because it never has another value.
 */
export function columnsForCallers({ table, snapshot }: Pick<TableUse, 'table' | 'snapshot'>): TableSnapshot['columns'] {
  const refersToId = (from: TableSnapshot, name: string, hops = 0): boolean =>
    (from.references ?? []).some(({ columns: [column, ...others], table: parent, to }) => {
      const target = Object.hasOwn(snapshot.tables, parent) ? snapshot.tables[parent]! : undefined
      if (column !== name || others.length > 0 || target === undefined || hops > maxHops) return false
      const type = columnOf(target, to[0]!)?.type
      return type === 'id' || (type === 'bigint' && refersToId(target, to[0]!, hops + 1))
    })
  return Object.fromEntries(
    Object.entries(table.columns).map(([name, column]) =>
      column.type === 'bigint' && refersToId(table, name) ? [name, { ...column, type: 'id' }] : [name, column],
    ),
  )
}

const maxHops = 10

/** Whether the API supports a column; otherwise reports why not. */
export function checkColumn(name: string, table: TableSnapshot, report: Report, at: string): boolean {
  const column = columnOf(table, name)
  if (column === undefined) {
    report(at, `Unknown column "${name}"`, { unknown: { name, known: Object.keys(table.columns) } })
    return false
  }
  if (isSupported(name, column)) return true
  const reason = column.as === undefined ? 'its name is reserved' : `its type is ${column.as}`
  report(at, `The column "${name}" is not supported: ${reason}`, { hint: 'Use it in an action with code instead' })
  return false
}

/** Reports a column that cannot be written, because the times in its rows have several forms and none was chosen. */
export function checkForm(name: string, { table, connection, config, report }: TableUse, at: string): boolean {
  const column = columnOf(table, name)!
  if (column.form !== 'mixed' || column.written !== undefined) return true
  const isDate = column.type === 'date'
  report(
    at,
    `The ${isDate ? 'dates' : 'times'} in the rows of "${name}" have several forms, so callers can only read them`,
    {
      hint: isDate
        ? 'Change the rows to one form, then run waypost migrate again'
        : `Choose the form of new times: waypost migrate --connection ${connection} --form "${config.table}.${name}=YYYY-MM-DD HH:MM:SS"`,
    },
  )
  return false
}

export function columnOf(table: TableSnapshot, name: string): ColumnSnapshot | undefined {
  return Object.hasOwn(table.columns, name) ? table.columns[name] : undefined
}

/** Drivers cannot return a column `__proto__`. Statements use names with `~` themselves. */
export function isSupported(name: string, column: ColumnSnapshot): boolean {
  return valueTypeOf(column) !== undefined && name !== '__proto__' && !name.startsWith('~')
}

interface OperationPlace {
  readonly use: ActionUse
  readonly name: string
  readonly table: TableSnapshot
  readonly key: readonly string[]
}

const entityOperations: Readonly<Record<string, Operation>> = {
  GET: 'read',
  PUT: 'replace',
  PATCH: 'update',
  DELETE: 'delete',
}
const collectionOperations: Readonly<Record<string, Operation>> = { GET: 'list', POST: 'insert' }

function findOperation({ use, name, table, key }: OperationPlace, report: Report): Operation | undefined {
  const { method, path } = use
  const last = path.split('/').at(-1) ?? ''
  const isEntity = last.startsWith(':') && key.includes(last.slice(1))
  if (table.view && method !== 'GET') {
    report('/table', `"${name}" is a view, so ${method} ${path} cannot change it`, { hint: 'Use only GET with a view' })
    return undefined
  }
  const operation = (isEntity ? entityOperations : collectionOperations)[method]
  if (operation !== undefined) return operation
  const message = isEntity
    ? `${method} ${path} ends with the key "${key.join(', ')}", so it refers to one existing row`
    : `${method} ${path} does not end with a parameter for the key "${key.join(', ')}"`
  const hint = isEntity
    ? `Use ${method} with the path of the list`
    : `Use a path that ends with ${key.map((one) => `:${one}`).join('/')}`
  report('', message, { hint })
  return undefined
}
