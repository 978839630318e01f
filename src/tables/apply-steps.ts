import type { ColumnSnapshot, TableSnapshot, TablesSnapshot, DatabaseKind } from '../contract/index.ts'
import { nearest } from '../kit/index.ts'
import { digitsOf, reportChange } from './alter-column.ts'
import { addSearch, changeSearch, dropSearch } from './apply-search.ts'
import { makeForeignKey } from './make-foreign-key.ts'
import { sortTables } from './snapshot.ts'
import {
  findSame,
  hasList,
  isSameList,
  showList,
  type Report,
  type StepContext,
  type StepProblem,
} from './step-context.ts'
import type { ColumnDeclaration, Step } from './steps.ts'
import { changeValues } from './write-steps.ts'

export interface ApplyOptions {
  /** The database of the connection; undefined if it may be either. */
  readonly kind?: DatabaseKind | undefined
  /** Whether tables, columns and indexes may exist that the snapshot lacks. */
  readonly isPartial?: boolean
}

export interface AppliedSteps {
  readonly tables: TablesSnapshot
  readonly problems: readonly StepProblem[]
}

/** Returns the tables after the steps of a migration. Steps with problems are applied as far as possible. */
export function applySteps(
  before: TablesSnapshot,
  steps: readonly Step[],
  { kind, isPartial = false }: ApplyOptions = {},
): AppliedSteps {
  const problems: StepProblem[] = []
  const tables = new Map(Object.entries(before.tables))
  for (const [index, step] of steps.entries()) {
    const report: Report = (path, message, hint) => problems.push({ step: index, path, message, hint })
    const missing: Report = (...problem) => (isPartial ? 0 : report(...problem))
    applyStep(step, { tables, report, missing, isSqlite: kind !== 'postgresql' })
  }
  return { tables: sortTables({ tables: Object.fromEntries(tables) }), problems }
}

type StepOf<Name extends Step['step']> = Extract<Step, { readonly step: Name }>

function applyStep(step: Step, context: StepContext): void {
  if (/^(waypost|sqlite)_/i.test(step.table)) {
    context.report([], `The table name "${step.table}" is reserved`, 'Choose a name without this prefix')
    return
  }
  switch (step.step) {
    case 'create_table':
      return createTable(step, context)
    case 'add_column':
      return addColumn(step, context)
    case 'alter_column':
      return alterColumn(step, context)
    case 'add_index':
      return addIndex(step, context)
    case 'drop_index':
      return dropIndex(step, context)
    case 'add_search':
    case 'drop_search':
      return changeTableSearch(step, context)
    case 'rename_column':
      return renameColumn(step, context)
    case 'drop_column':
      return dropColumn(step, context)
    case 'drop_table':
      return dropTable(step, context)
  }
}

function createTable(step: StepOf<'create_table'>, context: StepContext): void {
  const { table, columns: declared, unique = [], index = [] } = step
  const { tables, missing } = context
  const same = findSame(table, tables.keys())
  if (same !== undefined) missing([], `The table "${same}" already exists`)
  reportTwins(Object.keys(declared), context)
  const columns = Object.fromEntries(Object.entries(declared).map(([name, column]) => [name, describeColumn(column)]))
  const key = readKey(step, context)
  const lists = [...(step.key ? [['key', key] as const] : []), ...unique.map((list) => ['unique', list] as const)]
  for (const [part, list] of [...lists, ...index.map((list) => ['index', list] as const)])
    reportColumns(list, { columns, path: [part], report: context.report })
  const single = Object.keys(declared).filter((name) => declared[name]!.unique)
  if (hasList(unique, key) || (key.length === 1 && single.includes(key[0]!)))
    context.report(['key'], `The key ${showList(key)} is already unique`, 'Remove it from "unique"')
  const repeated = index.find((list, at) => hasList(index.slice(0, at), list))
  if (repeated !== undefined) context.report(['index'], `The index ${showList(repeated)} is repeated`)
  const created = { columns, key, unique: [...unique, ...single.map((name) => [name])], index }
  tables.set(table, created)
  const references = Object.entries(declared).flatMap(([name, column]) =>
    makeForeignKey({ name, column }, ['columns', name], context),
  )
  tables.set(table, { ...created, references })
}

function readKey({ table, columns, key: given }: StepOf<'create_table'>, { report }: StepContext): readonly string[] {
  const ids = Object.keys(columns).filter((name) => columns[name]!.type === 'id')
  const key = given ?? ids.slice(0, 1)
  if (key.length === 0) report([], `The table "${table}" has no key`, 'Add a column "id: id", or "key: [COLUMN]"')
  if (ids.length > 0 && !(ids.length === 1 && isSameList(key, ids))) {
    const last = ids.at(-1)!
    const isReference = columns[last]!.references !== undefined
    const hint = isReference ? 'A column that refers to one of type id has the type integer or bigint' : undefined
    report(['columns', last], 'A column of type id must be the only column of the key', hint)
  }
  for (const name of key) {
    if (Object.hasOwn(columns, name) && columns[name]!.null)
      report(['key'], `The key column "${name}" must not be null`)
  }
  return key
}

function describeColumn(column: ColumnDeclaration): ColumnSnapshot {
  return {
    type: column.type,
    ...(column.length !== undefined && { length: column.length }),
    ...(column.values !== undefined && { values: column.values }),
    ...(column.precision !== undefined && { precision: column.precision }),
    ...(column.scale && { scale: column.scale }),
    ...(column.null && { null: true }),
    ...(column.default !== undefined && { default: true }),
  }
}

function addColumn(step: StepOf<'add_column'>, context: StepContext): void {
  const { table: name, column, as: declared } = step
  reportAddition(step, context)
  const table = findTable(name, context)
  if (table === undefined) return
  const same = findSame(column, Object.keys(table.columns))
  if (same !== undefined) context.missing([column], `The table "${name}" already has a column "${same}"`)
  const added = {
    ...table,
    columns: { ...table.columns, [column]: describeColumn(declared) },
    ...(declared.unique && { unique: [...(table.unique ?? []), [column]] }),
  }
  context.tables.set(name, added)
  const references = makeForeignKey({ name: column, column: declared }, [column], context)
  context.tables.set(name, { ...added, references: [...(table.references ?? []), ...references] })
}

/** Reports what databases refuse to add to a table with rows. */
function reportAddition({ column, as }: StepOf<'add_column'>, { report, isSqlite }: StepContext): void {
  const instead = 'Add "null: true" instead'
  if (as.type === 'id') report([column], 'A column of type id can only be created with its table')
  if (!as.null && as.default === undefined)
    report([column], `The new column "${column}" needs a value for existing rows`, 'Add "null: true" or a default')
  if (as.default === 'now' && as.type === 'timestamp')
    report([column, 'default'], '"now" is only allowed as a default in create_table', instead)
  if (as.unique && isSqlite) report([column, 'unique'], 'SQLite cannot add a unique column to a table')
  if (as.references !== undefined && as.default !== undefined && isSqlite)
    report([column, 'references'], 'SQLite cannot add a reference with a default', instead)
}

function alterColumn(step: StepOf<'alter_column'>, context: StepContext): void {
  const { table: name, column, change } = step
  const table = findTable(name, context)
  if (table === undefined || !reportColumn(table, { table: name, column }, context)) return
  const known = table.columns[column]!
  reportChange(step, table, context)
  const { type = known.type, length, null: isNullable = known.null === true } = change
  const hasDefault = change.default === undefined ? known.default : change.default !== null
  context.tables.set(name, {
    ...table,
    columns: {
      ...table.columns,
      [column]: {
        type,
        ...(change.type === undefined ? known.length !== undefined && { length: known.length } : length && { length }),
        ...(type === 'enum' && { values: changeValues(change, { values: known.values ?? [] }) ?? known.values }),
        ...(type === 'numeric' && { ...digitsOf(known), ...digitsOf(change) }),
        ...(known.as !== undefined && { as: known.as }),
        ...(isNullable && { null: true as const }),
        ...(hasDefault && { default: true as const }),
        ...(known.generated && { generated: true as const }),
      },
    },
  })
}

function addIndex({ table: name, columns }: StepOf<'add_index'>, context: StepContext): void {
  const table = findTable(name, context)
  if (table === undefined) return
  reportColumns(columns, { columns: table.columns, path: [], report: context.missing })
  if (hasList(table.index, columns))
    context.missing([], `The table "${name}" already has the index ${showList(columns)}`)
  context.tables.set(name, { ...table, index: [...(table.index ?? []), columns] })
}

function dropIndex({ table: name, columns }: StepOf<'drop_index'>, context: StepContext): void {
  const table = findTable(name, context)
  if (table === undefined) return
  if (!hasList(table.index, columns)) {
    const known = table.index?.map(showList).join(', ')
    const unique = 'These columns are unique, which cannot be dropped'
    const hint = hasList(table.unique, columns) ? unique : known && `Its indexes: ${known}`
    context.missing([], `The table "${name}" has no index ${showList(columns)}`, hint)
  }
  context.tables.set(name, { ...table, index: table.index?.filter((one) => !isSameList(one, columns)) ?? [] })
}

function changeTableSearch(step: StepOf<'add_search' | 'drop_search'>, context: StepContext): void {
  const table = findTable(step.table, context)
  if (table === undefined) return
  const change = step.step === 'add_search' ? addSearch : dropSearch
  context.tables.set(step.table, change(step, table, context))
}

function renameColumn({ table: name, column, to }: StepOf<'rename_column'>, context: StepContext): void {
  const table = findTable(name, context)
  if (table === undefined || !reportColumn(table, { table: name, column }, context)) return
  const others = Object.keys(table.columns).filter((one) => one !== column || one === to)
  const same = findSame(to, others)
  if (same !== undefined) context.missing([column], `The table "${name}" already has a column "${same}"`)
  const rename = (one: string) => (one === column ? to : one)
  const renameAll = (lists: TableSnapshot['index'] = []) => lists.map((list) => list.map(rename))
  const search = changeSearch(table.search, rename)
  context.tables.set(name, {
    ...table,
    ...(search && { search }),
    columns: Object.fromEntries(Object.entries(table.columns).map(([one, value]) => [rename(one), value])),
    ...(table.key && { key: table.key.map(rename) }),
    unique: renameAll(table.unique),
    index: renameAll(table.index),
    references: table.references?.map((key) => ({ ...key, columns: key.columns.map(rename) })) ?? [],
  })
  for (const [other, value] of context.tables) {
    const references = value.references?.map((key) => (key.table === name ? { ...key, to: key.to.map(rename) } : key))
    if (references) context.tables.set(other, { ...value, references })
  }
}

function dropColumn(step: StepOf<'drop_column'>, context: StepContext): void {
  const { table: name, column } = step
  const table = findTable(name, context)
  if (table === undefined || !reportColumn(table, step, context)) return
  reportUses(step, table, context)
  const isFree = (list: readonly string[]) => !list.includes(column)
  const { search: _, ...rest } = table
  const search = changeSearch(table.search, (one) => (one === column ? undefined : one))
  context.tables.set(name, {
    ...rest,
    ...(search && { search }),
    columns: Object.fromEntries(Object.entries(table.columns).filter(([one]) => one !== column)),
    unique: table.unique?.filter(isFree) ?? [],
    index: table.index?.filter(isFree) ?? [],
    references: table.references?.filter((key) => isFree(key.columns)) ?? [],
  })
}

/** PostgreSQL also drops the indexes and constraints of a column; SQLite refuses to drop the column. */
function reportUses(
  { table: name, column }: StepOf<'drop_column'>,
  table: TableSnapshot,
  { tables, report, isSqlite }: StepContext,
): void {
  const uses = (list: readonly string[]) => list.includes(column)
  for (const [other, { references = [] }] of tables) {
    if (references.some((key) => key.table === name && uses(key.to)))
      report([column], `The table "${other}" refers to "${name}.${column}"`, `Drop the column of "${other}" first`)
  }
  const index = table.index?.find(uses)
  if (uses(table.key ?? [])) report([column], `"${column}" is part of the key of "${name}"`)
  else if (isSqlite && index !== undefined) {
    const hint = `Drop the index first: drop_index: { ${name}: [${showList(index)}] }`
    report([column], `SQLite cannot drop the indexed column "${column}"`, hint)
  } else if (isSqlite && table.unique?.some(uses)) report([column], `SQLite cannot drop the unique column "${column}"`)
  else if (isSqlite && table.references?.some((key) => key.columns.length > 1 && uses(key.columns)))
    report([column], `SQLite cannot drop "${column}", which is part of a foreign key`)
}

function dropTable({ table: name }: StepOf<'drop_table'>, context: StepContext): void {
  if (findTable(name, context) === undefined) return
  context.tables.delete(name)
  for (const [other, { references = [] }] of context.tables) {
    if (references.some((key) => key.table === name))
      context.report([], `The table "${other}" refers to "${name}"`, `Drop "${other}" or its column first`)
  }
}

function findTable(name: string, { tables, missing, report }: StepContext): TableSnapshot | undefined {
  const table = tables.get(name)
  if (table === undefined) {
    const near = nearest(name, [...tables.keys()])
    missing([], `Unknown table "${name}"`, near && `Did you mean "${near}"?`)
  } else if (table.view) report([], `"${name}" is a view`, 'Change it in a TypeScript migration')
  return table?.view ? undefined : table
}

/** Reports an unknown column. Returns whether the column exists. */
function reportColumn(
  { columns }: TableSnapshot,
  { table, column }: { readonly table: string; readonly column: string },
  { missing }: StepContext,
): boolean {
  if (Object.hasOwn(columns, column)) return true
  const near = nearest(column, Object.keys(columns))
  missing([column], `The table "${table}" has no column "${column}"`, near && `Did you mean "${near}"?`)
  return false
}

interface ListContext {
  readonly columns: TableSnapshot['columns']
  readonly path: readonly string[]
  readonly report: Report
}

function reportColumns(list: readonly string[], { columns, path, report }: ListContext): void {
  for (const [index, name] of list.entries()) {
    const near = nearest(name, Object.keys(columns))
    if (!Object.hasOwn(columns, name)) report(path, `Unknown column "${name}"`, near && `Did you mean "${near}"?`)
    if (list.indexOf(name) !== index) report(path, `The column "${name}" is repeated`)
  }
}

/** SQLite does not distinguish upper and lower case in names. */
function reportTwins(names: readonly string[], { report }: StepContext): void {
  for (const [index, name] of names.entries()) {
    const same = findSame(name, names.slice(0, index))
    if (same !== undefined) report(['columns', name], `The columns "${same}" and "${name}" differ only in case`)
  }
}
