import { createReadStream } from 'node:fs'
import type { RowTable, RowValues } from '../row-table.ts'
import { readField, unset } from './csv-values.ts'
import { CsvProblem, parseCsv, type CsvField, type CsvRecord } from './parse-csv.ts'

export const maxLines = 100_000

/** Why a line cannot be imported. */
export interface LineProblem {
  readonly line: number
  readonly column: string | null
  readonly message: string
}

/** A line of a file as a row. */
export interface ReadRow {
  readonly line: number
  readonly body: RowValues
  /** The number of its characters. */
  readonly size: number
}

export interface ReadOptions {
  /** Whether columns of the file that the table does not have are left out. */
  readonly skipsUnknown: boolean
  report(problem: LineProblem): void
}

/**
 * Reads a CSV file for a table, whose columns its first line names. A line that does not fit the types of the columns is
 * reported and left out. Columns that the database computes are left out: an export has them.
 * @param file its path
 */
export async function* readTable(
  table: RowTable,
  file: string,
  { skipsUnknown, report }: ReadOptions,
): AsyncGenerator<readonly ReadRow[]> {
  let header: Header | undefined
  let lines = 0
  try {
    for await (const records of parseCsv(createReadStream(file))) {
      if (header === undefined && records.length > 0) header = readHeader(table, records.shift()!, skipsUnknown)
      if (header !== undefined && header.problems.length > 0) {
        for (const problem of header.problems) report(problem)
        return
      }
      if (header?.isDense) removeBlank(records)
      lines += records.length
      if (lines > maxLines)
        throw new CsvProblem(records.at(-1)!.line, `The file has more than ${maxLines.toLocaleString('en')} lines`)
      yield records.flatMap((record) => {
        const row = readRow(table, header!, record)
        if (!Array.isArray(row)) return row as ReadRow
        for (const problem of row) report(problem)
        return []
      })
    }
    if (header === undefined) throw new CsvProblem(1, 'The file is empty. Its first line names the columns')
  } catch (error) {
    if (!(error instanceof CsvProblem)) throw error
    report({ line: error.line, column: null, message: error.message })
  }
}

interface Header {
  /** The column of each field; undefined for one that is left out. */
  readonly columns: readonly (string | undefined)[]
  readonly problems: readonly LineProblem[]
  /** The file has one column, and each row has a value in it: an empty line is not a row. */
  readonly isDense?: boolean
}

function removeBlank(records: CsvRecord[]): void {
  const rows = records.filter(({ fields: [first] }) => first!.isQuoted || first!.text !== '')
  records.splice(0, records.length, ...rows)
}

function readHeader({ options }: RowTable, { line, fields }: CsvRecord, skipsUnknown: boolean): Header {
  const { columns: known, writable, required, name: table } = options
  const names = fields.map((field) => String(readField({ ...field, isQuoted: true }, { type: 'text' })).trim())
  const given = names.map((name) => (writable.includes(name) ? name : undefined))
  const unknown = skipsUnknown ? [] : names.filter((name) => !known.includes(name))
  const twice = names.filter((name, index) => names.indexOf(name) < index && writable.includes(name))
  const missing = required.filter((name) => !names.includes(name))
  const problem = (column: string, message: string) => ({ line, column, message })
  const problems = [
    ...unknown.map((name) => problem(name, `is not a column of ${table}`)),
    ...twice.map((name) => problem(name, 'is in the file twice')),
    ...missing.map((name) => problem(name, 'is missing, but rows need it')),
  ]
  if (problems.length === 0 && given.every((name) => name === undefined))
    return { columns: given, problems: [{ line, column: null, message: `No column of ${table} is in the file` }] }
  const [first] = given
  const isDense = given.length === 1 && first !== undefined && options.table.columns[first]!.null !== true
  return { columns: given, problems, isDense }
}

/** Returns the row of a line, or its problems. */
function readRow(table: RowTable, { columns }: Header, { line, fields }: CsvRecord): ReadRow | readonly LineProblem[] {
  if (fields.length !== columns.length)
    return [{ line, column: null, message: `has ${fields.length} values instead of ${columns.length}` }]
  const body: Record<string, unknown> = {}
  let size = 0
  for (const [index, name] of columns.entries()) {
    if (name === undefined) continue
    const field = fields[index]!
    size += field.text.length
    const value = readOne(table, name, field)
    if (value instanceof SyntaxError) return [{ line, column: name, message: value.message }]
    if (value !== unset) body[name] = value
  }
  const problems = table.checkBody(body)
  if (problems === undefined) return { line, body, size }
  return problems.map(({ path, message }) => ({ line, column: path.split('/')[1] ?? null, message }))
}

function readOne({ options }: RowTable, name: string, field: CsvField): unknown {
  if (field.text.includes('\0')) return new SyntaxError('has a NUL character') // as in a body
  try {
    return readField(field, options.table.columns[name]!)
  } catch (error) {
    return error
  }
}
