import type { Context } from 'waypost'
import { writeEtag } from './etag.ts'
import { JsonText, markUnfit } from './json-column.ts'
import type { TablePlan } from './plan.ts'
import { makeRowResponse, makeRowWriter, type Row } from './run.ts'
import { versionAlias } from './statements.ts'

/** The error for a row that does not exist for the caller. */
export function notFound(context: Context): Error {
  return context.problem(404, 'Not found')
}

/** Returns a function that makes the response of a row. */
export function makeResponse(plan: TablePlan): (row: Row, context: Context) => Row | JsonText {
  const toResponse = makeRowResponse(plan)
  const write = makeRowWriter(plan)
  const extras = plan.version === undefined ? [] : [versionAlias]
  return (row, context) => {
    const unfit = toResponse(row, extras, context)
    return write === undefined ? markUnfit(row, unfit) : new JsonText(write(row), unfit)
  }
}

/** Returns the ETag of a row; undefined if rows have no version. */
export function etagOf({ version }: TablePlan, row: Row): string | undefined {
  return version === undefined ? undefined : writeEtag(row[versionAlias])
}
