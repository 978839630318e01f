import type { Context } from 'waypost'
import type { TablePlan } from './plan.ts'
import type { Row } from './run.ts'
import type { TableUse } from './table-use.ts'

export const csvType = 'text/csv'

/** Checks `csv`. @returns whether the lists of a method are also sent as CSV */
export function resolveCsv({ config, operation, use, report }: TableUse): boolean {
  if (config.csv !== true || operation !== 'list') return false
  const { method, path } = use
  if (Object.keys(use.declared.responses).some((status) => status.startsWith('2')))
    report('/csv', `${method} ${path} declares its response, which cannot be that of CSV`, {
      hint: 'Remove the declared response, or "csv"',
    })
  if (use.dispatch !== undefined)
    report('/csv', `${method} ${path} dispatches its response, which cannot be CSV`, { hint: 'Remove "dispatch"' })
  return true
}

/** Returns a function that writes rows as CSV (RFC 4180), with a first line of the names of their columns. */
export function makeCsvWriter({ columns, types, jsonAsText }: TablePlan): (rows: readonly Row[]) => string {
  const writes = columns.map((name) => {
    const isJson = types[name]!.type === 'json'
    return isJson && !jsonAsText ? (value: unknown) => JSON.stringify(value) : writeValue
  })
  const header = columns.map(writeCell).join()
  return (rows) => {
    const lines = rows.map((row) =>
      columns.map((name, index) => (isEmpty(row[name]) ? '' : writeCell(writes[index]!(row[name])))).join(),
    )
    return `${[header, ...lines].join('\r\n')}\r\n`
  }
}

/** A value that does not fit the type of its column is NaN. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || Number.isNaN(value)
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Spreadsheets run a cell that begins with one of these as a formula. */
const formula = /^[=+\-@\t\r]/
const plainNumber = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/

function writeCell(text: string): string {
  const safe = formula.test(text) && !plainNumber.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * Whether a caller wants a list as CSV, which has only the columns of the rows.
 * @throws a problem with status 400 for what CSV cannot have
 */
export function wantsCsv({ csv }: TablePlan, query: Row, context: Context): boolean {
  if (csv !== true || context.accepts !== csvType) return false
  for (const name of ['embed', 'count'])
    if (query[name] !== undefined && query[name] !== false)
      throw context.problem(400, `"${name}" is not possible with CSV`)
  return true
}

/** Returns the Link header of the next page (RFC 8288), relative to the path of the request; undefined for the last page. */
export function writeNextLink(query: Row, next: string | null): string | undefined {
  if (next === null) return undefined
  const { after: _, ...others } = query
  const pairs = Object.entries({ ...others, after: next }).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, writeValue(one)]),
  )
  return `<?${new URLSearchParams(pairs).toString()}>; rel="next"`
}
