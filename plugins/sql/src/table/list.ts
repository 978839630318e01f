import type { Context, DatabaseKind } from 'waypost'
import { csvType, makeCsvWriter, wantsCsv, writeNextLink } from './csv.ts'
import { comparesRows } from './keyset.ts'
import { digestList, readCursor, writeCursor, type CursorValue } from './cursor.ts'
import { assertFewEmbedded, makeEmbedChoice } from './embed/embed-choice.ts'
import { makeRowsResponse } from './embed/embed-response.ts'
import { type SortTerm, type TablePlan } from './plan.ts'
import { JsonText, markUnfit } from './json-column.ts'
import { isCutOff, makeAccess, makeDatabaseOpener, makeInput, restAfter, type Handler, type Row } from './run.ts'
import { makeFilterReader } from './list-filters.ts'
import { limitRanked, makeSearchReader } from './search/read-search.ts'
import { completeSort, parseSort } from './sort.ts'
import { isConverted, isNullable, type ListShape, type UsedFilter } from './list-conditions.ts'
import { isOwned } from './row-conditions.ts'
import { countAlias, cursorAlias, isTrue, type StatementWriter } from './statements.ts'

/** Makes the handler of a list. */
export function makeListHandler(plan: TablePlan, kind: DatabaseKind, path: string): Handler {
  const open = makeDatabaseOpener(plan, kind)
  const accessOf = makeAccess(plan)
  const parents = plan.references ?? []
  const list = plan.list!
  const toResponse = makeRowsResponse(plan, kind)
  const choose = makeEmbedChoice(plan)
  const writeCsv = makeCsvWriter(plan)
  const readFilters = makeFilterReader(plan)
  const readSearch = makeSearchReader(plan, kind)
  const normalSort = completeSort(list.sort, list.unique)
  const normalDigest = digestList([path, [], nameSort(normalSort)])

  return async (request, context) => {
    const sent = makeInput(request, context)
    const { query } = sent
    const { sort: sortText, limit: wanted = list.limit.default, after: cursor, count: isCounted } = query as ListQuery
    const search = readSearch(query, context)
    const limit = limitRanked(wanted, search)
    const sort = sortText === undefined ? normalSort : chooseSort(sortText, plan, context)
    const isCsv = wantsCsv(plan, query, context)
    const embeds = isCsv ? [] : choose(query, context)
    assertFewEmbedded(embeds, limit, context)
    const { filters, any, alternatives, key } = readFilters(query, context)
    const given = [...key, ...search.key]
    const input = { ...sent, alternatives, search: search.text }
    const digest = () =>
      given.length === 0 && sort === normalSort ? normalDigest : digestList([path, given, nameSort(sort)])
    const database = open(context)
    const after =
      cursor === undefined ? undefined : continueAfter(cursor, { digest: digest(), sort, plan, context, kind })
    const conditions = {
      access: accessOf(context.principal),
      filters,
      any,
      search,
      sort,
      after: after?.map((value) => value === null),
    }
    const shape: ListShape = {
      ...conditions,
      rows: limit === list.limit.default ? limit + 1 : undefined,
      isScan: sort !== normalSort || readsManyRows(plan, conditions, embeds),
      embeds,
    }
    const name = nameShape(shape)
    const [rows, counted] = await Promise.all([
      database.run(name, (writer) => writer.list(shape), { ...input, rows: limit + 1, ...(after && { after }) }),
      isCounted ? database.run(`count ${nameConditions(shape)}`, (writer) => writer.count(shape), input) : undefined,
    ])
    if (rows.length === 0 && parents.length > 0) {
      const { access } = shape
      const check = (writer: StatementWriter) => writer.findReferences(parents, [], access)
      const [seen] = await database.run(`parents ${access.join()}`, check, input)
      if (Object.values(seen!).some((found) => !isTrue(found))) throw context.problem(404, 'Not found')
    }
    const hasNext = rows.length > limit || isCutOff(rows)
    const page = rows.length > limit ? rows.slice(0, limit) : rows
    const names = sort.map(({ column }, index) =>
      isConverted(plan.types[column]!, kind) ? cursorAlias(index) : column,
    )
    const next = hasNext && !search.isRanked ? writeCursor(digest(), readValues(page.at(-1)!, names)) : null
    const extras = names.filter((name) => !Object.hasOwn(plan.types, name))
    const others = { next, ...(counted && { count: counted[0]![countAlias] }) }
    await restAfter(rows)
    const { texts, unfit } = toResponse(page, { embeds, extras, context })
    if (isCsv)
      return context.respond(200, writeCsv(page), { 'content-type': csvType, link: writeNextLink(query, next) })
    if (texts === undefined) return markUnfit({ entry: page, ...others }, unfit)
    return new JsonText(`{"entry":[${texts.join()}],${JSON.stringify(others).slice(1)}`, unfit)
  }
}

interface ListQuery {
  readonly sort?: string
  readonly limit?: number
  readonly after?: string
  readonly count?: boolean
}

function chooseSort(text: string, plan: TablePlan, context: Context): readonly SortTerm[] {
  const chosen = parseSort(text, plan)
  if (typeof chosen === 'string') throw context.problem(400, chosen)
  return completeSort(chosen, plan.list!.unique)
}

/** Whether no index serves a list in the default order, as far as is known. */
function readsManyRows(
  { scans, owner, types }: TablePlan,
  shape: Omit<ListShape, 'isScan' | 'rows' | 'embeds'>,
  embeds: ListShape['embeds'],
): boolean {
  const { access, filters, any, search, sort, after } = shape
  if (
    scans === true ||
    embeds.some((one) => one.scans) ||
    filters.length + any.length > 0 ||
    search.use !== undefined ||
    (owner !== undefined && !isOwned(owner, access))
  )
    return true
  const terms = sort.map(({ column, descending }) => ({ descending, isNullable: isNullable(types[column]!) }))
  return after !== undefined && !comparesRows(terms)
}

interface Continuing {
  readonly digest: string
  readonly sort: readonly SortTerm[]
  readonly plan: TablePlan
  readonly context: Context
  readonly kind: DatabaseKind
}

function continueAfter(text: string, { digest, sort, plan, context, kind }: Continuing): readonly CursorValue[] {
  const columns = sort.map(({ column }) => plan.types[column]!)
  const values = readCursor(text, { digest, columns, kind })
  if (values === undefined)
    throw context.problem(400, '"after" is not the "next" of a list with the same filters and the same order')
  return values
}

/** Names the statement of a shape. */
function nameShape(shape: ListShape): string {
  const { sort, after, rows, embeds } = shape
  const names = embeds.map(({ name }) => name)
  return JSON.stringify([nameConditions(shape), nameSort(sort), after ?? null, rows === undefined, names])
}

function nameConditions({ access, filters, any, search }: ListShape): string {
  const nameUse = ({ name, isList, isNull }: UsedFilter) => `${name}${isList ? '[]' : ''}${isNull ? '!' : ''}`
  return JSON.stringify([access, filters.map(nameUse), any.map(nameUse), search.use, search.isRanked])
}

function nameTerm({ column, descending }: SortTerm): string {
  return `${descending ? '-' : ''}${column}`
}

function nameSort(sort: readonly SortTerm[]): string {
  return sort.map(nameTerm).join()
}

function readValues(row: Row, names: readonly string[]): readonly CursorValue[] {
  return names.map((name) => row[name] as CursorValue)
}
