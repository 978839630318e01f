import type { DatabaseKind } from 'waypost'
import type { TablePlan } from './plan.ts'
import { makeReadAgain } from './read-again.ts'
import { etagOf, makeResponse } from './respond-row.ts'
import { makeAccess, makeDatabaseOpener, makeInput, makeSuppressed, type Handler, type Row } from './run.ts'
import type { StatementWriter } from './statements.ts'
import { explainMissing, findWritten, nameChange } from './written.ts'

/** Makes the handler of POST. */
export function makeInsertHandler(plan: TablePlan, kind: DatabaseKind, path: string): Handler {
  const open = makeDatabaseOpener(plan, kind)
  const accessOf = makeAccess(plan)
  const toResponse = makeResponse(plan)
  const prepareReading = makeReadAgain(plan)
  return async (request, context) => {
    const input = makeInput(request, context)
    const written = plan.write.filter((name) => Object.hasOwn(input.body, name) || !plan.types[name]!.default)
    const references = findWritten(plan, written, input.body)
    const change = { access: accessOf(context.principal), written, references }
    const database = open(context)
    const readAgain = await prepareReading(database, input, context)
    const key = nameChange(plan, change)
    const [inserted] = await database.run(key, (writer) => writer.insert(change), input)
    const row = inserted && (await readAgain(inserted, change.access))
    if (row === undefined && references.length === 0) throw makeSuppressed(plan, context)
    if (row === undefined) {
      const check = (writer: StatementWriter) => writer.findReferences(references, written, change.access)
      const [seen] = await database.run(`find ${key}`, check, input)
      throw explainMissing(plan, { references, seen: seen!, context }) ?? makeSuppressed(plan, context)
    }
    const { location } = plan
    const at = location === undefined ? undefined : makeLocation(path, input.params, row[location])
    const etag = etagOf(plan, row)
    return context.respond(201, toResponse(row, context), { location: at, etag })
  }
}

/** Returns the path of a new row: that of the list with its parameters, and the key. */
function makeLocation(path: string, params: Row, key: unknown): string {
  const list = path.replaceAll(/(?<=\/)[:*]([^/]+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  return `${list.replace(/\/$/, '')}/${encodeURIComponent(String(key))}`
}
