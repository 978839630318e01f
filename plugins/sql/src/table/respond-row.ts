import type { Context } from 'waypost'
import { writeEtag } from './etag.ts'
import { uniqueAlias } from './insert-statements.ts'
import { JsonText, markUnfit } from './json-column.ts'
import type { TablePlan } from './plan.ts'
import { makeRowResponse, makeRowWriter, type Row } from './run.ts'
import { versionAlias } from './statements.ts'

/** The error for a row that does not exist for the caller. */
export function notFound(context: Pick<Context, 'problem'>): Error {
  return context.problem(404, 'Not found')
}

/** Returns a function that makes the response of a row. */
export function makeResponse(plan: TablePlan): (row: Row, context: Context) => Row | JsonText {
  const toResponse = makeRowResponse(plan)
  const write = makeRowWriter(plan)
  const extras = listExtras(plan)
  return (row, context) => {
    const unfit = toResponse(row, extras, context)
    return write === undefined ? markUnfit(row, unfit) : new JsonText(write(row), unfit)
  }
}

export interface RowsText {
  /** The JSON of the list. */
  readonly text: string
  /** The column of a value that is null because it does not fit its type. */
  readonly unfit: string | undefined
}

/** Returns a function that writes rows with some of their columns as JSON. It changes the rows. */
export function makeRowsText(
  plan: TablePlan,
  columns = plan.columns,
): (rows: readonly Row[], context: Context) => RowsText {
  const toResponse = makeRowResponse({ ...plan, columns })
  const write = makeRowWriter({ ...plan, columns })
  const extras = [...listExtras(plan), ...plan.columns.filter((name) => !columns.includes(name))]
  return (rows, context) => {
    let unfit: string | undefined
    for (const row of rows) unfit = toResponse(row, extras, context) ?? unfit
    return { text: write === undefined ? JSON.stringify(rows) : `[${rows.map((row) => write(row)).join()}]`, unfit }
  }
}

/** The columns of results that are not columns of the table. */
function listExtras({ version, upsert }: TablePlan): readonly string[] {
  return [
    ...(version === undefined ? [] : [versionAlias]),
    ...(upsert?.columns ?? []).map((_, index) => uniqueAlias(index)),
  ]
}

/** Returns the ETag of a row; undefined if rows have no version. */
export function etagOf({ version }: TablePlan, row: Row): string | undefined {
  return version === undefined ? undefined : writeEtag(row[versionAlias])
}
