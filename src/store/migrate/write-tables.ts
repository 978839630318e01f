import type { DatabaseKind } from '../../contract/index.ts'
import { sqliteDecimal } from '../../tables/index.ts'
import { loadTables, type Column, type Table } from './introspect.ts'
import type { AnyDatabase } from './migration-table.ts'

const head = '// Written by `waypost migrate` from the database. Commit it; do not edit it.'
const maxWidth = 120

const typesByName: ReadonlyMap<string, string> = new Map(
  Object.entries({
    number:
      'int int2 int4 int8 integer tinyint smallint mediumint bigint real float float4 float8 double double_precision',
    // Text on PostgreSQL, which keeps all digits, and a number on SQLite.
    'string | number': 'numeric decimal',
    boolean: 'bool boolean',
    json: 'json jsonb json_text',
    Uint8Array: 'blob bytea binary varbinary',
  }).flatMap(([type, names]) => names.split(' ').map((name) => [name.replace('_p', ' p'), type])),
)

/**
 * Returns the text of a connection's `tables.ts`: the type of each table and view of its database. The same migrations
 * produce the same text on every database.
 * @param hasTypes whether a file `types.ts` beside it declares the types of JSON columns
 */
export async function writeTables(db: AnyDatabase, kind: DatabaseKind, hasTypes = false): Promise<string> {
  const tables = await loadTables(db, kind)
  const body = tables.map((table) => writeTable(table, hasTypes)).join('')
  const interfaceText = body === '' ? 'export interface Tables {}\n' : `export interface Tables {\n${body}}\n`
  const hasColumns = body.includes('JsonColumn<')
  const hasDecimals = body.includes('DecimalColumn')
  const names = [
    ...(hasDecimals ? ['DecimalColumn'] : []),
    ...(body.includes('Generated<') ? ['Generated'] : []),
    ...(hasColumns ? ['JsonColumn'] : []),
  ]
  const imports = [
    ...(names.length === 0 ? [] : [`import type { ${names.join(', ')} } from 'waypost'\n`]),
    ...(hasColumns ? [`import type { JsonColumns } from './types.ts'\n`] : []),
  ]
  const importText = `${imports.join('')}\n`
  return `${head}\n${importText}${interfaceText}`
}

function writeTable({ name, columns }: Table, hasTypes: boolean): string {
  const members = columns.map((column) => `${writeKey(column.name)}: ${writeType(column, hasTypes ? name : undefined)}`)
  const line = `  ${writeKey(name)}: { ${members.join('; ')} }`
  if (line.length <= maxWidth) return `${line}\n`
  return `  ${writeKey(name)}: {\n${members.map((member) => `    ${member}\n`).join('')}  }\n`
}

function writeKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`
}

/** @param table given if the types of JSON columns are declared */
function writeType(column: Column, table: string | undefined): string {
  const { name, isNullable, isGenerated } = column
  const missing = [...(isNullable ? ['null'] : []), ...(isGenerated ? ['undefined'] : [])].join(' | ')
  if (isDecimal(column)) return missing === '' ? 'DecimalColumn' : `DecimalColumn<${missing}>`
  const found = typeOf(column)
  if (found === 'json' && table !== undefined)
    return `JsonColumn<JsonColumns, ${quote(table)}, ${quote(name)}${missing === '' ? '' : `, ${missing}`}>`
  const known = found === 'json' ? 'unknown' : found
  const value = isNullable && known !== 'unknown' ? `${known} | null` : known
  return isGenerated ? `Generated<${value}>` : value
}

function isDecimal({ type, isExact }: Column): boolean {
  return isExact === true || type === sqliteDecimal
}

/** All other types, including those that a project created, are read as text. */
function typeOf({ type: name, values, item }: Column): string {
  if (values) return values.map(quote).join(' | ')
  if (name === '') return 'unknown' // an expression in a SQLite view
  const itemType = item?.type ?? (name.endsWith('[]') ? name.slice(0, -2) : undefined)
  if (itemType === undefined) return typesByName.get(name) ?? 'string'
  // The driver reads arrays of other types as text.
  const known = arrayItems.has(itemType) ? (typesByName.get(itemType) ?? 'string') : 'unknown'
  if (known === 'unknown' || known === 'json') return 'unknown'
  return known.includes(' ') ? `(${known})[]` : `${known}[]`
}

/** Types of whose arrays the driver of PostgreSQL reads the items. */
const arrayItems: ReadonlySet<string> = new Set(
  'int2 int4 int8 smallint integer bigint float4 float8 numeric bool boolean text varchar bpchar date timestamp timestamptz uuid interval inet cidr json jsonb'.split(
    ' ',
  ),
)
