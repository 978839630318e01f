import type { Action, Context, MakeOptions } from 'waypost'
import type { TableConfig } from './config.ts'
import { JsonText } from './json-column.ts'
import { makeListHandler } from './list.ts'
import { planFormat, type TablePlan } from './plan.ts'
import { parseEntityTags, readVersions, writeEtag } from './etag.ts'
import {
  isOwned,
  makeDatabaseOpener,
  makeInput,
  makeRowAnswer,
  makeRowWriter,
  type Handler,
  type Row,
  type TableRequest,
} from './run.ts'
import { versionAlias, type RowCondition } from './statements.ts'

/** Creates the action of one method from its plan. */
export function makeTableAction({ plan, use }: MakeOptions<TableConfig>): Action {
  if (plan === undefined || use === undefined) throw new Error('The class sql-table can only be used by routes')
  if (plan.format !== planFormat)
    throw new Error(`The plan has the format ${plan.format}, and this version of sql-table knows format ${planFormat}`)
  return { handle: makeHandler(plan as TablePlan, use.path) as Action['handle'] }
}

function makeHandler(plan: TablePlan, path: string): Handler {
  switch (plan.operation) {
    case 'list':
      return makeListHandler(plan, path)
    case 'insert':
      return makeInsertHandler(plan, path)
    case 'read':
      return makeReadHandler(plan)
    default:
      return makeChangeHandler(plan)
  }
}

function makeInsertHandler(plan: TablePlan, path: string): Handler {
  const open = makeDatabaseOpener(plan)
  const answer = makeAnswer(plan)
  return async (request, context) => {
    const input = makeInput(request, context)
    const written = plan.write.filter((name) => Object.hasOwn(input.body, name) || !plan.types[name]!.default)
    const [row] = await open(context).run(written.join(), (writer) => writer.insert(written), input)
    const { location } = plan
    const at = location === undefined ? undefined : makeLocation(path, input.params, row![location])
    const etag = etagOf(plan, row!)
    return context.respond(201, answer(row!), { location: at, etag })
  }
}

/** Returns the path of a new row: that of the list with its parameters, and the key. */
function makeLocation(path: string, params: Row, key: unknown): string {
  const list = path.replaceAll(/:([^/]+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  return `${list.replace(/\/$/, '')}/${encodeURIComponent(String(key))}`
}

function makeReadHandler(plan: TablePlan): Handler {
  const open = makeDatabaseOpener(plan)
  const answer = makeAnswer(plan)
  return async (request, context) => {
    const isOwn = isOwned(plan, context.principal)
    const [row] = await open(context).run(
      isOwn ? 'own' : 'all',
      (writer) => writer.read(isOwn),
      makeInput(request, context),
    )
    if (row === undefined) throw notFound(context)
    const etag = etagOf(plan, row)
    if (etag === undefined) return answer(row)
    const tags = parseEntityTags(String(request.headers['if-none-match'] ?? '')) ?? []
    const isKnown = tags === '*' || tags.includes(String(row[versionAlias]))
    return isKnown ? context.respond(304, undefined, { etag }) : context.respond(200, answer(row), { etag })
  }
}

/** Makes the handler of PUT, PATCH and DELETE. */
function makeChangeHandler(plan: TablePlan): Handler {
  const open = makeDatabaseOpener(plan)
  const answer = makeAnswer(plan)
  const isRemoving = plan.operation === 'delete' && Object.keys(plan.set).length === 0
  return async (request, context) => {
    const versions = readCondition(plan, request, context)
    const input = { ...makeInput(request, context), ...(versions && { versions }) }
    const condition: RowCondition = {
      isOwned: isOwned(plan, context.principal),
      versions: versions && (versions.length === 1 ? 'one' : 'several'),
    }
    const written = plan.write.filter((name) => Object.hasOwn(input.body, name))
    const database = open(context)
    const key = `${condition.isOwned} ${condition.versions} ${written.join()}`
    const [row] = await database.run(
      key,
      (writer) => (isRemoving ? writer.delete(condition) : writer.update(written, condition)),
      input,
    )
    if (row === undefined) {
      const { isOwned } = condition
      const found = versions && (await database.run(`exists ${isOwned}`, (writer) => writer.exists(isOwned), input))
      throw found?.length === 1 ? context.problem(412, 'The resource has been changed') : notFound(context)
    }
    if (plan.operation === 'delete') return context.respond(204)
    const etag = etagOf(plan, row)
    return etag === undefined ? answer(row) : context.respond(200, answer(row), { etag })
  }
}

/** Returns the versions that If-Match allows; undefined for all. */
function readCondition(plan: TablePlan, { headers }: TableRequest, context: Context): readonly bigint[] | undefined {
  if (plan.version === undefined) return undefined
  const header = headers['if-match']
  if (header === undefined) {
    if (plan.version.required) throw context.problem(428, 'Send If-Match with the ETag of the resource')
    return undefined
  }
  const tags = parseEntityTags(String(header))
  if (tags === undefined) throw context.problem(400, 'If-Match must be "*" or a list of ETags in quotes')
  return tags === '*' ? undefined : readVersions(tags, plan.types[plan.version.column]!.type)
}

function notFound(context: Context): Error {
  return context.problem(404, 'Not found')
}

function makeAnswer(plan: TablePlan): (row: Row) => Row | JsonText {
  const answer = makeRowAnswer(plan)
  const write = makeRowWriter(plan)
  const extras = plan.version === undefined ? [] : [versionAlias]
  return (row) => {
    const answered = answer(row, extras)
    return write === undefined ? answered : new JsonText(write(answered))
  }
}

function etagOf({ version }: TablePlan, row: Row): string | undefined {
  return version === undefined ? undefined : writeEtag(row[versionAlias])
}
