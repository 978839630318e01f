import type { Action, Context, DatabaseKind, Databases, MakeOptions } from 'waypost'
import type { TableConfig } from './config.ts'
import { JsonText, markUnfit } from './json-column.ts'
import { makeListHandler } from './list.ts'
import { kindOf } from './kind-of.ts'
import { planFormat, type ReferencePlan, type TablePlan } from './plan.ts'
import { parseEntityTags, readVersions, writeEtag } from './etag.ts'
import {
  makeAccess,
  makeBrokenReference,
  makeDatabaseOpener,
  makeInput,
  makeRowResponse,
  makeRowWriter,
  makeSuppressed,
  type Handler,
  type Row,
  type TableDatabase,
  type TableRequest,
} from './run.ts'
import type { Access, RowCondition } from './row-conditions.ts'
import type { Input } from './statement-values.ts'
import {
  digestAlias,
  isTrue,
  policyAlias,
  ruleAlias,
  triggerAlias,
  versionAlias,
  type ChangeCondition,
  type StatementWriter,
} from './statements.ts'

/** Creates the action of one method from its plan. */
export function makeTableAction({ plan, use, databases }: MakeOptions<TableConfig>): Action {
  if (plan === undefined || use === undefined) throw new Error('The class sql-table can only be used by routes')
  if (plan.format !== planFormat)
    throw new Error(
      `The plan has the format ${plan.format}, but this version of sql-table supports format ${planFormat}`,
    )
  const table = plan as TablePlan
  let known: Handler | undefined
  // Made by the first request: only the client of a replaced connection tells what database it is.
  const handle: Handler = async (request, context) => {
    known ??= makeHandler(table, findKind(table.connection, databases, context), use.path)
    return known(request, context)
  }
  return { handle: handle as Action['handle'] }
}

function findKind(connection: string, databases: Databases, context: Context): DatabaseKind {
  const kind = databases[connection] ?? kindOf(context.connection(connection as never))
  if (kind === undefined) throw new Error(`The connection "${connection}" is not a SQL database`)
  return kind
}

function makeHandler(plan: TablePlan, kind: DatabaseKind, path: string): Handler {
  switch (plan.operation) {
    case 'list':
      return makeListHandler(plan, kind, path)
    case 'insert':
      return makeInsertHandler(plan, kind, path)
    case 'read':
      return makeReadHandler(plan, kind)
    default:
      return makeChangeHandler(plan, kind)
  }
}

function makeInsertHandler(plan: TablePlan, kind: DatabaseKind, path: string): Handler {
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

function makeReadHandler(plan: TablePlan, kind: DatabaseKind): Handler {
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

/** Makes the handler of PUT, PATCH and DELETE. */
function makeChangeHandler(plan: TablePlan, kind: DatabaseKind): Handler {
  const open = makeDatabaseOpener(plan, kind)
  const toResponse = makeResponse(plan)
  const accessOf = makeAccess(plan)
  const isRemoving = plan.operation === 'delete' && Object.keys(plan.set).length === 0
  const remove = makeRemoval()
  const prepareReading = makeReadAgain(plan)
  return async (request, context) => {
    const database = open(context)
    const access = accessOf(context.principal)
    const sent = makeInput(request, context)
    const allowed = readCondition(plan, request, context)
    const seen = await checkNoneMatch(plan, request, { database, access, input: sent, context })
    const versions = seen?.filter((one) => allowed === undefined || allowed.includes(one)) ?? allowed
    const input = { ...sent, ...(versions && { versions }) }
    const written = plan.write.filter((name) => Object.hasOwn(input.body, name))
    const references = isRemoving ? [] : findWritten(plan, written, input.body)
    const change: ChangeCondition = {
      access,
      versions: versions && (versions.length === 1 ? 'one' : 'several'),
      written,
      references: references.filter(({ inPath }) => !inPath), // others are conditions of all statements
    }
    const readAgain = plan.operation === 'delete' ? undefined : await prepareReading(database, input, context)
    const key = nameChange(plan, change)
    const [row] = isRemoving
      ? await remove(database, { key, change, input })
      : await database.run(key, (writer) => writer.update(change), input)
    if (row === undefined) {
      const [found] = await database.run(`find ${key}`, (writer) => writer.find(change), input)
      if (found === undefined) throw notFound(context)
      const isOther = versions !== undefined && !versions.includes(BigInt(found[versionAlias] as string | number))
      if (isOther) throw context.problem(412, 'The resource has been changed')
      const missing = explainMissing(plan, { references: change.references, seen: found, context })
      throw missing ?? (await explainUnchanged(plan, { database, input, context }))
    }
    if (readAgain === undefined) return context.respond(204)
    const stored = await readAgain(row, access)
    const etag = etagOf(plan, stored)
    return etag === undefined
      ? toResponse(stored, context)
      : context.respond(200, toResponse(stored, context), { etag })
  }
}

/** How long a table is taken to have no triggers. */
const withoutTriggersMs = 60_000

/**
 * Returns a function that is called before a change. It returns the one that then returns the row as it is after triggers:
 * what a statement returns does not have their changes, for example of the time and the version of the row.
 */
function makeReadAgain(plan: TablePlan) {
  const { identity = [] } = plan
  const asReturned = async (row: Row) => row
  let withoutUntil = -Infinity
  let hasTriggers = false
  return async (database: TableDatabase, input: Input, context: Context) => {
    const now = context.now().getTime()
    if (identity.length === 0 || (!hasTriggers && now < withoutUntil)) return asReturned
    if (!hasTriggers) {
      const [found] = await database.run('triggers', (writer) => writer.findTriggers(), input)
      hasTriggers = isTrue(found![triggerAlias])
      withoutUntil = now + withoutTriggersMs
    }
    if (!hasTriggers) return asReturned
    return async (row: Row, access: Access): Promise<Row> => {
      const own = Object.fromEntries(identity.map((name) => [name, row[name]]))
      const reading = database.run(`again ${access.join()}`, (writer) => writer.readAgain(access), {
        ...input,
        identity: own,
      })
      const [stored] = await reading.catch((error: unknown) => {
        if (database.isTransaction) throw error // nothing is committed
        context.log.error({ err: error, table: plan.table }, 'sql-table: a changed row cannot be read again')
        return []
      })
      return stored ?? row
    }
  }
}

interface Removal {
  readonly key: string
  readonly change: RowCondition
  readonly input: Input
}

/**
 * Returns a function that deletes a row. If a rule of PostgreSQL replaces the statement, it returns no row and counts none,
 * so the row is compared: many rules mark it as deleted instead. What a rule that leaves the row as it was does is rolled back.
 */
function makeRemoval() {
  let isReplaced: boolean | undefined
  return async (database: TableDatabase, { key, change, input }: Removal): Promise<readonly Row[]> => {
    isReplaced ??= database.kind === 'postgresql' && isTrue((await findRefusals(database, input))[ruleAlias])
    if (!isReplaced) return database.run(`delete ${key}`, (writer) => writer.delete(change), input)
    const unchanged = new Error('The row is unchanged')
    const replacing = database.transaction(async ({ run }) => {
      const [before] = await run(`digest ${key}`, (writer) => writer.digest(change), input)
      if (before === undefined) return []
      await run(`delete ${key}`, (writer) => writer.delete(change, true), input)
      const [after] = await run(`after ${key}`, (writer) => writer.digest({ access: change.access }), input)
      if (after?.[digestAlias] === before[digestAlias]) throw unchanged
      return [before]
    })
    return replacing.catch((error: unknown) => {
      if (error === unchanged) return []
      throw error
    })
  }
}

async function findRefusals(database: TableDatabase, input: Input): Promise<Row> {
  return (await database.run('refusals', (writer) => writer.findRefusals(), input))[0]!
}

/** Returns the error of a change that changed nothing, although the row exists and it refers to rows that exist. */
async function explainUnchanged(
  plan: TablePlan,
  { database, input, context }: Pick<Checking, 'database' | 'input' | 'context'>,
): Promise<Error> {
  const isRestricted = database.kind === 'postgresql' && isTrue((await findRefusals(database, input))[policyAlias])
  if (isRestricted) return context.problem(403, 'A policy of the database does not allow this change')
  return makeSuppressed(plan, context)
}

/** Returns the references that a request writes, except those to no row. */
function findWritten(
  { references = [], set }: TablePlan,
  written: readonly string[],
  body: Row,
): readonly ReferencePlan[] {
  return references.filter(({ columns, inPath }) => {
    const own = columns.filter((name) => written.includes(name))
    const isWritten = own.length > 0 || columns.some((name) => Object.hasOwn(set, name))
    return inPath || (isWritten && own.every((name) => Object.hasOwn(body, name) && body[name] !== null))
  })
}

/** Names the statement of a change. */
function nameChange(
  { references: all = [] }: TablePlan,
  { access, written, versions, references }: ChangeCondition,
): string {
  return JSON.stringify([access, versions, written, references.map((one) => all.indexOf(one))])
}

interface Missing {
  readonly references: readonly ReferencePlan[]
  /** Whether the row of each exists for the caller, by index. */
  readonly seen: Row
  readonly context: Context
}

/**
 * Returns the error for a reference to a row of another user: the same as for a row that does not exist; undefined if each
 * row that it refers to exists, which may just have been added.
 */
function explainMissing(plan: TablePlan, { references, seen, context }: Missing): Error | undefined {
  const missing = references.filter((_, index) => !isTrue(seen[index]))
  const first = missing.find(({ inPath }) => inPath) ?? missing[0]
  if (first === undefined) return undefined
  return first.inPath ? notFound(context) : makeBrokenReference(plan.table, first.columns)
}

/** Returns the versions that If-Match allows; undefined for all. */
function readCondition(plan: TablePlan, { headers }: TableRequest, context: Context): readonly bigint[] | undefined {
  if (plan.version === undefined) return undefined
  const header = headers['if-match']
  if (header === undefined) {
    if (plan.version.required) throw context.problem(428, 'Send If-Match with the ETag of the resource')
    return undefined
  }
  const tags = parseEntityTags(String(header), 'strong')
  if (tags === undefined) throw context.problem(400, 'If-Match must be "*" or a list of ETags in quotes')
  return tags === '*' ? undefined : readVersions(tags, plan.types[plan.version.column]!.type)
}

interface Checking {
  readonly database: TableDatabase
  readonly access: Access
  readonly input: Input
  readonly context: Context
}

/**
 * Rejects a change of a row that If-None-Match names: of any row with `*`, or of one with such a version.
 * @returns the version of the row that was found, which must not change any more; undefined without a condition
 */
async function checkNoneMatch(
  plan: TablePlan,
  { headers }: TableRequest,
  { database, access, input, context }: Checking,
): Promise<readonly bigint[] | undefined> {
  const header = headers['if-none-match']
  if (header === undefined) return undefined
  const tags = parseEntityTags(String(header), 'weak')
  if (tags === undefined) throw context.problem(400, 'If-None-Match must be "*" or a list of ETags in quotes')
  if (tags !== '*' && plan.version === undefined) return undefined // rows have no ETag that it could name
  const find = (writer: StatementWriter) => writer.find({ access, written: [], references: [] })
  const [row] = await database.run(`exists ${access.join()}`, find, input)
  if (row === undefined) throw notFound(context)
  const version = String(row[versionAlias])
  if (tags === '*' || tags.includes(version)) throw context.problem(412, 'The resource matches If-None-Match')
  return [BigInt(version)]
}

function notFound(context: Context): Error {
  return context.problem(404, 'Not found')
}

function makeResponse(plan: TablePlan): (row: Row, context: Context) => Row | JsonText {
  const toResponse = makeRowResponse(plan)
  const write = makeRowWriter(plan)
  const extras = plan.version === undefined ? [] : [versionAlias]
  return (row, context) => {
    const unfit = toResponse(row, extras, context)
    return write === undefined ? markUnfit(row, unfit) : new JsonText(write(row), unfit)
  }
}

function etagOf({ version }: TablePlan, row: Row): string | undefined {
  return version === undefined ? undefined : writeEtag(row[versionAlias])
}
