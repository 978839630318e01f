import type { DatabaseKind } from 'waypost'
import { parseEntityTags } from './etag.ts'
import type { TablePlan } from './plan.ts'
import { etagOf, makeResponse, notFound } from './respond-row.ts'
import { makeAccess, makeDatabaseOpener, makeInput, type Handler } from './run.ts'
import { versionAlias } from './statements.ts'

/** Makes the handler of GET for one row. */
export function makeReadHandler(plan: TablePlan, kind: DatabaseKind): Handler {
  const open = makeDatabaseOpener(plan, kind)
  const accessOf = makeAccess(plan)
  const toResponse = makeResponse(plan)
  return async (request, context) => {
    const access = accessOf(context.principal)
    const [row] = await open(context).run(access.join(), (writer) => writer.read(access), makeInput(request, context))
    if (row === undefined) throw notFound(context)
    const etag = etagOf(plan, row)
    if (etag === undefined) return toResponse(row, context)
    const tags = parseEntityTags(String(request.headers['if-none-match'] ?? ''), 'weak') ?? []
    const isKnown = tags === '*' || tags.includes(String(row[versionAlias]))
    return isKnown
      ? context.respond(304, undefined, { etag })
      : context.respond(200, toResponse(row, context), { etag })
  }
}
