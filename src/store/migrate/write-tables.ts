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
    unknown: 'json jsonb json_text',
    Uint8Array: 'blob bytea binary varbinary',
  }).flatMap(([type, names]) => names.split(' ').map((name) => [name.replace('_p', ' p'), type])),
)

/**
 * Returns the text of a connection's `tables.ts`: the type of each table and view of its database. The same migrations
 * produce the same text on every database.
 */
export async function writeTables(db: AnyDatabase, kind: DatabaseKind): Promise<string> {
  const tables = await loadTables(db, kind)
  const body = tables.map(writeTable).join('')
  const interfaceText = body === '' ? 'export interface Tables {}\n' : `export interface Tables {\n${body}}\n`
  const importText = body.includes('Generated<') ? `import type { Generated } from 'waypost'\n\n` : '\n'
  return `${head}\n${importText}${interfaceText}`
}

function writeTable({ name, columns }: Table): string {
  const members = columns.map((column) => `${writeKey(column.name)}: ${writeType(column)}`)
  const line = `  ${writeKey(name)}: { ${members.join('; ')} }`
  if (line.length <= maxWidth) return `${line}\n`
  return `  ${writeKey(name)}: {\n${members.map((member) => `    ${member}\n`).join('')}  }\n`
}

function writeKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name.replaceAll(/['\\]/g, '\\$&')}'`
}

function writeType({ type, isNullable, isGenerated }: Column): string {
  const known = typeOf(type)
  const value = isNullable && known !== 'unknown' ? `${known} | null` : known
  return isGenerated ? `Generated<${value}>` : value
}

/** All other types, including those that a project created, are read as text. */
function typeOf(name: string): string {
  if (name === '' || name.startsWith('_')) return 'unknown' // an expression in a SQLite view, or an array of PostgreSQL
  return typesByName.get(name) ?? 'string'
}
