import type { ColumnSnapshot, ForeignKeySnapshot, TableSnapshot, TablesSnapshot } from '../contract/index.ts'

/** Writes tables and their references as an entity relationship diagram of Mermaid. */
export function writeMermaid({ tables }: TablesSnapshot): string {
  const entities = Object.entries(tables).flatMap(([name, table]) => [
    `  ${writeName(name)} {`,
    ...Object.entries(table.columns).map(([column, one]) => `    ${writeColumn(column, one, table)}`),
    '  }',
  ])
  const references = Object.entries(tables).flatMap(([name, table]) =>
    (table.references ?? []).map((one) => `  ${writeReference(name, table, one)}`),
  )
  return `${['erDiagram', ...entities, ...references].join('\n')}\n`
}

function writeColumn(
  name: string,
  { type, as }: ColumnSnapshot,
  { key = [], unique = [], references = [] }: TableSnapshot,
) {
  const marks = [
    ...(key.includes(name) ? ['PK'] : []),
    ...(references.some(({ columns }) => columns.includes(name)) ? ['FK'] : []),
    ...(unique.some((columns) => columns.length === 1 && columns[0] === name) ? ['UK'] : []),
  ]
  return [writeWord(as ?? type), writeWord(name), ...(marks.length > 0 ? [marks.join(', ')] : [])].join(' ')
}

/** One or several rows refer to one, or to none if a column allows null. */
function writeReference(name: string, table: TableSnapshot, { columns, table: parent }: ForeignKeySnapshot): string {
  const isSame = (others: readonly string[]) =>
    others.length === columns.length && columns.every((one) => others.includes(one))
  const isOne = [table.key ?? [], ...(table.unique ?? [])].some(isSame)
  const isOptional = columns.some((one) => table.columns[one]?.null === true)
  const line = `${isOne ? '|o' : '}o'}--${isOptional ? 'o|' : '||'}`
  return `${writeName(name)} ${line} ${writeName(parent)} : "${columns.join(', ').replaceAll('"', "'")}"`
}

function writeName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', "'")}"`
}

/** Mermaid takes few characters in types and names of columns. */
function writeWord(text: string): string {
  const word = text.replaceAll(/[^\w()[\]-]+/g, '_')
  return /^[A-Za-z_]/.test(word) ? word : `_${word}`
}
