import type { DatabaseKind } from 'waypost'
import { makeChildrenInsert, type ChildTexts } from './children/insert-children.ts'
import { insertRow, type Inserting } from './insert-row.ts'
import { makeRowsInsert } from './insert-rows.ts'
import { JsonText } from './json-column.ts'
import type { TablePlan } from './plan.ts'
import { makeReadAgain } from './read-again.ts'
import { etagOf, makeResponse, makeRowsText, type RowsText } from './respond-row.ts'
import { makeAccess, makeDatabaseOpener, makeInput, type Handler, type Row } from './run.ts'

/** Makes the handler of POST. */
export function makeInsertHandler(plan: TablePlan, kind: DatabaseKind, path: string): Handler {
  const open = makeDatabaseOpener(plan, kind)
  const accessOf = makeAccess(plan)
  const toResponse = makeResponse(plan)
  const toText = makeRowsText(plan)
  const prepareReading = makeReadAgain(plan, kind)
  const insertRows = makeRowsInsert(plan, kind)
  const children = makeChildrenInsert(plan, kind)
  return async (request, context) => {
    const input = makeInput(request, context)
    const access = accessOf(context.principal)
    const database = open(context)
    const readAgain = await prepareReading(database, input, context)
    const inserting: Inserting = { input, access, context }
    if (Array.isArray(request.body)) {
      const inserted = await insertRows(database, { sent: request.body as readonly Row[], ...inserting })
      const { text, unfit } = toText(await readAgain(inserted, access), context)
      return context.respond(plan.upsert === undefined ? 201 : 200, new JsonText(text, unfit))
    }
    const { location } = plan
    const locate = (row: Row) => (location === undefined ? undefined : makeLocation(path, input.params, row[location]))
    if (children.hasAny(input.body, context)) {
      const { row, added } = await database.transaction(async (step) => {
        const { row: parent } = await insertRow(plan, step, inserting)
        return { row: parent, added: await children.insert(step, { parent, input, context }) }
      })
      const [stored] = (await readAgain([row], access)) as readonly [Row]
      const at = locate(stored)
      // An ETag would not change with the children.
      return context.respond(201, joinTexts(toText([stored], context), added), { location: at })
    }
    const { row: inserted, isNew } = await insertRow(plan, database, inserting)
    const [row] = (await readAgain([inserted], access)) as readonly [Row]
    const headers = { location: isNew ? locate(row) : undefined, etag: etagOf(plan, row) }
    return context.respond(isNew ? 201 : 200, toResponse(row, context), headers)
  }
}

/** Returns the JSON of a row, which is the only one of its list, with its children. */
function joinTexts({ text: list, unfit }: RowsText, children: ChildTexts): JsonText {
  return new JsonText(`${list.slice(1, -2)},${children.texts.join()}}`, unfit ?? children.unfit)
}

/** Returns the path of a new row: that of the list with its parameters, and the key. */
function makeLocation(path: string, params: Row, key: unknown): string {
  const list = path.replaceAll(/(?<=\/)[:*]([^/]+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  return `${list.replace(/\/$/, '')}/${encodeURIComponent(String(key))}`
}
