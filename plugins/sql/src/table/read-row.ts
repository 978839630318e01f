import type { DatabaseKind } from 'waypost'
import { makeEmbedChoice } from './embed/embed-choice.ts'
import { makeRowsResponse } from './embed/embed-response.ts'
import { parseEntityTags } from './etag.ts'
import { JsonText, markUnfit } from './json-column.ts'
import type { TablePlan } from './plan.ts'
import { etagOf, makeResponse, notFound } from './respond-row.ts'
import { makeAccess, makeDatabaseOpener, makeInput, type Handler } from './run.ts'
import { versionAlias } from './statements.ts'

/** Makes the handler of GET for one row. */
export function makeReadHandler(plan: TablePlan, kind: DatabaseKind): Handler {
  const open = makeDatabaseOpener(plan, kind)
  const accessOf = makeAccess(plan)
  const toResponse = makeResponse(plan)
  const toResponses = makeRowsResponse(plan, kind)
  const choose = makeEmbedChoice(plan)
  const extras = plan.version === undefined ? [] : [versionAlias]
  return async (request, context) => {
    const access = accessOf(context.principal)
    const embeds = choose(request.query, context)
    const key = JSON.stringify([access, embeds.map(({ name }) => name)])
    const [row] = await open(context).run(key, (writer) => writer.read(access, embeds), makeInput(request, context))
    if (row === undefined) throw notFound(context)
    if (embeds.length > 0) {
      // The version of the row says nothing about the rows that it contains, so there is no ETag.
      const { texts, unfit } = toResponses([row], { embeds, extras, context })
      return texts === undefined ? markUnfit(row, unfit) : new JsonText(texts[0]!, unfit)
    }
    const etag = etagOf(plan, row)
    if (etag === undefined) return toResponse(row, context)
    const tags = parseEntityTags(String(request.headers['if-none-match'] ?? ''), 'weak') ?? []
    const isKnown = tags === '*' || tags.includes(String(row[versionAlias]))
    return isKnown
      ? context.respond(304, undefined, { etag })
      : context.respond(200, toResponse(row, context), { etag })
  }
}
