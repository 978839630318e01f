import type { Context } from 'waypost'
import { writeCsvCell } from 'waypost/sql'
import type { TablePlan } from './plan.ts'
import type { Row } from './run.ts'
import type { TableUse } from './table-use.ts'

export const csvType = 'text/csv'

/** Checks `csv`. @returns whether the lists of a method are also sent as CSV */
export function resolveCsv({ config, operation, use, report }: TableUse): boolean {
  if (config.csv !== true || operation !== 'list') return false
  const { method, path } = use
  if (Object.keys(use.declared.responses).some((status) => status.startsWith('2')))
    report('/csv', `${method} ${path} declares its response, which does not describe CSV`, {
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
  const header = columns.map(writeCsvCell).join()
  return (rows) => {
    const lines = rows.map((row) =>
      columns.map((name, index) => writeCsvCell(isNone(row[name]) ? null : writes[index]!(row[name]))).join(),
    )
    return `${[header, ...lines].join('\r\n')}\r\n`
  }
}

/** JSON has null for them. A value that does not fit the type of its column is NaN. */
function isNone(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
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
