import type { DatabaseKind } from '../contract/index.ts'
import { sha256 } from '../kit/index.ts'
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

const maxNameLength = 63

function nameIndex(table: string, columns: readonly string[]): string {
  const name = [table, ...columns, 'idx'].join('_')
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength - 13)}_${sha256(name).slice(0, 8)}_idx`
}

/** Returns the SQL of a step. */
export function writeStep(step: Step, kind: DatabaseKind, names: IndexNames = usualNames): readonly string[] {
  const table = quote(step.table)
  const mark = kind === 'postgresql' && 'concurrently' in step ? 'concurrently ' : ''
  switch (step.step) {
    case 'create_table':
      return [
        `create table ${table} (\n${writeTable(step, kind)}\n)`,
        ...(step.index ?? []).map((columns) => writeIndex(step.table, columns, names)),
      ]
    case 'add_column':
      return [`alter table ${table} add column ${writeColumn(step.column, step.as, kind)}`]
    case 'alter_column':
      return kind === 'sqlite' ? [describeAlter(step)] : alterOnPostgres(step)
    case 'add_index':
      return [writeIndex(step.table, step.columns, names, mark)]
    case 'drop_index':
      return names.find(step.table, step.columns).map((name) => `drop index ${mark}${quote(name)}`)
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
  const { type, notNull, default: fallback } = partsOfChange(change, 'sqlite')
  const parts = [
    ...(type === undefined ? [] : [type]),
    ...(notNull === undefined ? [] : [notNull ? 'not null, with the default instead of NULL' : 'null']),
    ...(fallback === undefined ? [] : [fallback === null ? 'no default' : `default ${fallback}`]),
  ]
  return `-- in the definition of ${quote(table)}, ${quote(column)} becomes: ${parts.join(', ')}`
}

function alterOnPostgres({ table, column, change }: AlterStep): readonly string[] {
  const { type, notNull, default: fallback } = partsOfChange(change, 'postgresql')
  const name = quote(column)
  const alter = (what: string) => `alter table ${quote(table)} alter column ${name} ${what}`
  return [
    ...(type === undefined ? [] : [alter(`type ${type}`)]),
    ...(fallback === undefined ? [] : [alter(fallback === null ? 'drop default' : `set default ${fallback}`)]),
    ...(notNull === false ? [alter('drop not null')] : []),
    ...(notNull === true
      ? [`update ${quote(table)} set ${name} = default where ${name} is null`, alter('set not null')]
      : []),
  ]
}

/** Returns the parts of a column in SQL that change. */
export function partsOfChange(change: ColumnChange, kind: DatabaseKind): ColumnParts {
  const { type, length, null: isNullable, default: value } = change
  // Other types cannot change.
  const isChanged = type === 'text' || type === 'bigint'
  return {
    ...(isChanged && { type: length === undefined ? types[kind][type] : `varchar(${length})` }),
    ...(isNullable !== undefined && { notNull: !isNullable }),
    ...(value !== undefined && {
      default: value === null ? null : writeDefault({ type: type!, default: value }, kind),
    }),
  }
}

function writeTable(
  { columns, key, unique = [] }: Extract<Step, { step: 'create_table' }>,
  kind: DatabaseKind,
): string {
  const keys = key ?? Object.keys(columns).filter((name) => columns[name]!.type === 'id')
  // Without it, SQLite would give the id of a deleted row again. It belongs to the column.
  const numbered = kind === 'sqlite' && keys.length === 1 && columns[keys[0]!]?.type === 'id' ? keys[0] : undefined
  const lines = [
    ...Object.entries(columns).map(([name, column]) => {
      return writeColumn(name, column, kind) + (name === numbered ? ' primary key autoincrement' : '')
    }),
    ...(numbered === undefined ? [`primary key ${quoteList(keys)}`] : []),
    ...unique.map((list) => `unique ${quoteList(list)}`),
  ]
  return lines.map((line) => `  ${line}`).join(',\n')
}

function writeIndex(table: string, columns: readonly string[], names: IndexNames, mark = ''): string {
  return `create index ${mark}${quote(names.make(table, columns))} on ${quote(table)} ${quoteList(columns)}`
}

const types: Readonly<Record<DatabaseKind, Readonly<Record<ColumnDeclaration['type'], string>>>> = {
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
  },
}

function writeColumn(name: string, column: ColumnDeclaration, kind: DatabaseKind): string {
  const { type, length, references, on_delete: onDelete } = column
  const [target = '', to] = references?.split('.') ?? []
  return [
    quote(name),
    length === undefined ? types[kind][type] : `varchar(${length})`,
    ...(column.null ? [] : ['not null']),
    ...(column.default === undefined ? [] : [`default ${writeDefault(column, kind)}`]),
    ...(column.unique ? ['unique'] : []),
    ...(references === undefined ? [] : [`references ${quote(target)}${to === undefined ? '' : ` (${quote(to)})`}`]),
    ...(onDelete === undefined ? [] : [`on delete ${onDelete}`]),
  ].join(' ')
}

function writeDefault({ type, default: value }: ColumnDeclaration, kind: DatabaseKind): string {
  if (type === 'timestamp' && value === 'now')
    return kind === 'sqlite' ? `(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))` : 'now()'
  if (type === 'json') return writeText(JSON.stringify(value))
  if (typeof value === 'boolean') return kind === 'sqlite' ? String(Number(value)) : String(value)
  return typeof value === 'number' ? String(value) : writeText(String(value))
}

function writeText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
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
    default:
      return { step: 'rename_column', table, column: step.to, to: step.column }
  }
}

/** Describes the steps that break code which uses the tables before them. */
export function describeBreaking(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => {
    if (step.step === 'drop_table') return [`drops the table ${step.table}`]
    if (step.step === 'drop_column') return [`drops ${step.table}.${step.column}`]
    if (step.step === 'alter_column' && step.change.null === false)
      return [`no longer allows NULL in ${step.table}.${step.column}`]
    return step.step === 'rename_column' ? [`renames ${step.table}.${step.column} to ${step.to}`] : []
  })
}
