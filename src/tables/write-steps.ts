import type { DatabaseKind } from '../contract/index.ts'
import { quote, shortenName, storeDecimal, writeCheck, writeText } from './column-checks.ts'
import { parseReference, quoteTable } from './names.ts'
import { writeAddSearch, writeDropSearch } from './search.ts'
import type { ColumnParts } from './rewrite-column.ts'
import type { ColumnChange, ColumnDeclaration, Step } from './steps.ts'

/** The names of indexes, which snapshots and steps do not contain. */
export interface IndexNames {
  /** Returns a name for a new index. */
  make(table: string, columns: readonly string[]): string
  /** Returns the names of the indexes of these columns. */
  find(table: string, columns: readonly string[]): readonly string[]
}

/** Names indexes as PostgreSQL does. */
export const usualNames: IndexNames = { make: nameIndex, find: (...index) => [nameIndex(...index)] }

function nameIndex(table: string, columns: readonly string[]): string {
  return shortenName([table, ...columns].join('_'), '_idx')
}

/** The check constraint of an enum, as a database has it. */
export interface EnumCheck {
  readonly name: string
  readonly values: readonly string[]
}

/** Returns the SQL of a step. */
export function writeStep(
  step: Step,
  kind: DatabaseKind,
  names: IndexNames = usualNames,
  check?: EnumCheck,
): readonly string[] {
  const table = quoteTable(step.table)
  const mark = kind === 'postgresql' && 'concurrently' in step ? 'concurrently ' : ''
  switch (step.step) {
    case 'create_table':
      return [
        `create table ${table} (\n${writeTable(step, kind)}\n)`,
        ...(step.index ?? []).map((columns) => writeIndex(step.table, columns, names)),
      ]
    case 'add_column':
      return [`alter table ${table} add column ${writeColumn(step, step.as, kind)}`]
    case 'alter_column':
      return kind === 'sqlite' ? [describeAlter(step)] : alterOnPostgres(step, check)
    case 'add_index':
      return [writeIndex(step.table, step.columns, names, mark)]
    case 'drop_index':
      return names.find(step.table, step.columns).map((name) => `drop index ${mark}${quote(name)}`)
    case 'add_search':
      return writeAddSearch(step, kind)
    case 'drop_search':
      return writeDropSearch(step.table, kind)
    case 'rename_column':
      return [`alter table ${table} rename column ${quote(step.column)} to ${quote(step.to)}`]
    case 'drop_column':
      return [`alter table ${table} drop column ${quote(step.column)}`]
    default:
      return [`drop table ${table}`]
  }
}

type AlterStep = Extract<Step, { step: 'alter_column' }>

/** SQLite has no statement for it: the text of the table is changed, see `partsOfChange`. */
function describeAlter({ table, column, change }: AlterStep): string {
  const { type, notNull, default: fallback, check } = partsOfChange({ table, column, change }, 'sqlite')
  const parts = [
    ...(type === undefined ? [] : [type]),
    ...(check === undefined || check === null ? [] : [check]),
    ...describeValues(change),
    ...(notNull === undefined ? [] : [notNull ? 'not null, with the default instead of NULL' : 'null']),
    ...(fallback === undefined ? [] : [fallback === null ? 'no default' : `default ${fallback}`]),
  ]
  return `-- in the definition of ${quoteTable(table)}, ${quote(column)} becomes: ${parts.join(', ')}`
}

/** The check constraint that a database has is not known, so its values are not. */
function describeValues({ add_values: added = [], remove_values: removed = [] }: ColumnChange): readonly string[] {
  return [
    ...(added.length === 0 ? [] : [`also ${added.map(writeText).join(', ')}`]),
    ...(removed.length === 0 ? [] : [`no longer ${removed.map(writeText).join(', ')}`]),
  ]
}

function alterOnPostgres({ table, column, change }: AlterParts, known: EnumCheck | undefined): readonly string[] {
  const parts = partsOfChange({ table, column, change }, 'postgresql', known)
  const { type, notNull, default: fallback, check } = parts
  const name = quote(column)
  const alter = (what: string) => `alter table ${quoteTable(table)} alter column ${name} ${what}`
  const dropped = check === undefined || known === undefined ? [] : [`drop constraint ${quote(known.name)}`]
  const added = check === undefined || check === null ? [] : [`add ${check}`]
  const checks = [...dropped, ...added].join(', ')
  const described = known === undefined ? describeValues(change) : []
  return [
    ...(type === undefined ? [] : [alter(`type ${type}`)]),
    ...(checks === '' ? [] : [`alter table ${quoteTable(table)} ${checks}`]),
    ...(described.length === 0 ? [] : [`-- the check constraint of ${name} allows ${described.join(', ')}`]),
    ...(fallback === undefined ? [] : [alter(fallback === null ? 'drop default' : `set default ${fallback}`)]),
    ...(notNull === false ? [alter('drop not null')] : []),
    ...(notNull === true
      ? [`update ${quoteTable(table)} set ${name} = default where ${name} is null`, alter('set not null')]
      : []),
  ]
}

/** A column whose parts change. */
export type AlterParts = Pick<AlterStep, 'table' | 'column' | 'change'>

/**
 * Returns the parts of a column in SQL that change.
 * @param known the check constraint of an enum so far
 */
export function partsOfChange(
  { table, column, change }: AlterParts,
  kind: DatabaseKind,
  known?: EnumCheck,
): ColumnParts {
  const { type, null: isNullable, default: value } = change
  // Other types cannot change.
  const isChanged =
    type === 'text' || type === 'bigint' || change.precision !== undefined || change.values !== undefined
  const values = changeValues(change, known)
  const declared = { ...change, type: values === undefined ? type! : ('enum' as const), ...(values && { values }) }
  const place = { table, column, name: known?.name }
  // That of a decimal says the same for all digits on PostgreSQL.
  const isKept = type === 'numeric' && (kind === 'postgresql' || !isChanged)
  const check = isKept ? undefined : writeCheck(place, declared, kind)
  const isUnchecked = type === 'text' && (known !== undefined || kind === 'sqlite')
  return {
    ...(isChanged && { type: writeType(declared, kind) }),
    ...(isNullable !== undefined && { notNull: !isNullable }),
    ...(value !== undefined && { default: value === null ? null : writeDefault(declared, kind) }),
    ...(check === undefined ? isUnchecked && { check: null } : { check }),
  }
}

/** Returns the values of an enum after a change; undefined if they stay, or are not known. */
export function changeValues(
  { values, add_values: added = [], remove_values: removed = [] }: ColumnChange,
  known: Pick<EnumCheck, 'values'> | undefined,
): readonly string[] | undefined {
  if (values !== undefined || known === undefined || added.length + removed.length === 0) return values
  return [...new Set([...known.values, ...added])].filter((value) => !removed.includes(value))
}

function writeTable(
  { table, columns, key, unique = [] }: Extract<Step, { step: 'create_table' }>,
  kind: DatabaseKind,
): string {
  const keys = key ?? Object.keys(columns).filter((name) => columns[name]!.type === 'id')
  // Without it, SQLite would give the id of a deleted row again. It belongs to the column.
  const numbered = kind === 'sqlite' && keys.length === 1 && columns[keys[0]!]?.type === 'id' ? keys[0] : undefined
  const lines = [
    ...Object.entries(columns).map(([name, column]) => {
      return (
        writeColumn({ table, column: name }, column, kind) + (name === numbered ? ' primary key autoincrement' : '')
      )
    }),
    ...(numbered === undefined ? [`primary key ${quoteList(keys)}`] : []),
    ...unique.map((list) => `unique ${quoteList(list)}`),
  ]
  return lines.map((line) => `  ${line}`).join(',\n')
}

function writeIndex(table: string, columns: readonly string[], names: IndexNames, mark = ''): string {
  return `create index ${mark}${quote(names.make(table, columns))} on ${quoteTable(table)} ${quoteList(columns)}`
}

const types: Readonly<Record<DatabaseKind, Readonly<Record<Exclude<ColumnDeclaration['type'], 'numeric'>, string>>>> = {
  postgresql: {
    id: 'bigint generated by default as identity',
    integer: 'integer',
    bigint: 'bigint',
    number: 'double precision',
    text: 'text',
    boolean: 'boolean',
    timestamp: 'timestamptz(3)',
    date: 'date',
    json: 'jsonb',
    uuid: 'uuid',
    enum: 'text',
  },
  // The names that TypeScript migrations give their columns. Values are read and snapshots are made by them.
  sqlite: {
    id: 'INTEGER',
    integer: 'integer',
    bigint: 'bigint',
    number: 'double precision',
    text: 'text',
    boolean: 'boolean',
    timestamp: 'timestamp_text',
    date: 'date',
    json: 'json_text',
    uuid: 'uuid',
    enum: 'text',
  },
}

/** The type of decimals on SQLite, which stores them as integers of the smallest unit. */
export const sqliteDecimal = 'decimal_integer'

function writeType(
  { type, length, precision, scale = 0 }: Pick<ColumnDeclaration, 'type' | 'length' | 'precision' | 'scale'>,
  kind: DatabaseKind,
): string {
  if (type === 'numeric') return `${kind === 'sqlite' ? sqliteDecimal : 'numeric'}(${precision},${scale})`
  return length === undefined ? types[kind][type] : `varchar(${length})`
}

function writeColumn(
  place: { readonly table: string; readonly column: string },
  column: ColumnDeclaration,
  kind: DatabaseKind,
): string {
  const { references, on_delete: onDelete } = column
  const target = references === undefined ? undefined : parseReference(references)
  const check = writeCheck(place, column, kind)
  return [
    quote(place.column),
    writeType(column, kind),
    ...(column.null ? [] : ['not null']),
    ...(column.default === undefined ? [] : [`default ${writeDefault(column, kind)}`]),
    ...(column.unique ? ['unique'] : []),
    ...(target === undefined
      ? []
      : [`references ${quoteTable(target.table)}${target.column === undefined ? '' : ` (${quote(target.column)})`}`]),
    ...(onDelete === undefined ? [] : [`on delete ${onDelete}`]),
    ...(check === undefined ? [] : [check]),
  ].join(' ')
}

function writeDefault(
  { type, default: value, ...declared }: Pick<ColumnDeclaration, 'type' | 'default' | 'precision' | 'scale'>,
  kind: DatabaseKind,
): string {
  if (type === 'timestamp' && value === 'now')
    return kind === 'sqlite' ? `(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))` : 'now()'
  if (type === 'numeric') return String(kind === 'sqlite' ? storeDecimal(value, declared) : value)
  if (type === 'json') return writeText(JSON.stringify(value))
  if (typeof value === 'boolean') return kind === 'sqlite' ? String(Number(value)) : String(value)
  return typeof value === 'number' ? String(value) : writeText(String(value))
}

function quoteList(names: readonly string[]): string {
  return `(${names.map(quote).join(', ')})`
}

/** Returns the steps that revert steps; otherwise why they cannot be reverted. */
export function revertSteps(steps: readonly Step[]): { readonly steps: readonly Step[] } | { readonly reason: string } {
  const reverted: Step[] = []
  for (const step of steps.toReversed()) {
    const { table } = step
    if (step.step === 'drop_table') return { reason: `it drops the table "${table}"` }
    if (step.step === 'drop_column') return { reason: `it drops the column "${step.column}" of "${table}"` }
    if (step.step === 'alter_column') return { reason: `it changes the column "${step.column}" of "${table}"` }
    reverted.push(revertStep(step))
  }
  return { steps: reverted }
}

function revertStep(step: Exclude<Step, { step: 'drop_table' | 'drop_column' | 'alter_column' }>): Step {
  const { table } = step
  const mark = 'concurrently' in step ? ({ concurrently: true } as const) : {}
  switch (step.step) {
    case 'create_table':
      return { step: 'drop_table', table }
    case 'add_column':
      return { step: 'drop_column', table, column: step.column }
    case 'add_index':
      return { step: 'drop_index', table, columns: step.columns, ...mark }
    case 'drop_index':
      return { step: 'add_index', table, columns: step.columns, ...mark }
    case 'add_search':
      return { ...step, step: 'drop_search' }
    case 'drop_search':
      return { ...step, step: 'add_search' }
    default:
      return { step: 'rename_column', table, column: step.to, to: step.column }
  }
}

function describeFewerValues({ table, column, change }: AlterParts): readonly string[] {
  const { values, remove_values: removed } = change
  if (values !== undefined) return [`only allows ${values.join(', ')} in ${table}.${column}`]
  return removed === undefined ? [] : [`no longer allows ${removed.join(', ')} in ${table}.${column}`]
}

/** Describes the steps that block a large table for a while. */
export function describeRewrites(steps: readonly Step[]): readonly string[] {
  const created = new Set(steps.flatMap((step) => (step.step === 'create_table' ? [step.table] : [])))
  return steps.flatMap((step) =>
    step.step === 'add_search' && !created.has(step.table)
      ? [`reads and indexes all rows of ${step.table}, and blocks the table for up to a minute per million rows`]
      : [],
  )
}

/** Describes the steps that break code which uses the tables before them. */
export function describeBreaking(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => {
    if (step.step === 'drop_table') return [`drops the table ${step.table}`]
    if (step.step === 'drop_column') return [`drops ${step.table}.${step.column}`]
    if (step.step === 'drop_search') return [`drops the search of ${step.table}`]
    if (step.step === 'alter_column' && step.change.null === false)
      return [`no longer allows NULL in ${step.table}.${step.column}`]
    if (step.step === 'alter_column') return describeFewerValues(step)
    return step.step === 'rename_column' ? [`renames ${step.table}.${step.column} to ${step.to}`] : []
  })
}
