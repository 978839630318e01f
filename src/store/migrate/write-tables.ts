import type { DatabaseKind } from '../../contract/index.ts'
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
  const names = [...(body.includes('Generated<') ? ['Generated'] : []), ...(hasColumns ? ['JsonColumn'] : [])]
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
function writeType({ name, type, isNullable, isGenerated }: Column, table: string | undefined): string {
  const found = typeOf(type)
  if (found === 'json' && table !== undefined) {
    const missing = [...(isNullable ? ['null'] : []), ...(isGenerated ? ['undefined'] : [])].join(' | ')
    return `JsonColumn<JsonColumns, ${quote(table)}, ${quote(name)}${missing === '' ? '' : `, ${missing}`}>`
  }
  const known = found === 'json' ? 'unknown' : found
  const value = isNullable && known !== 'unknown' ? `${known} | null` : known
  return isGenerated ? `Generated<${value}>` : value
}

/** All other types, including those that a project created, are read as text. */
function typeOf(name: string): string {
  if (name === '' || name.startsWith('_')) return 'unknown' // an expression in a SQLite view, or an array of PostgreSQL
  return typesByName.get(name) ?? 'string'
}
