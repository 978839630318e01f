import type { ActionDescription, ActionHttp, ActionUse, ConfigProblem, JsonSchema, TablesSnapshot } from 'waypost'
import type { TableConfig } from './config.ts'
import { allowSeveral, describeWritten, resolveBulk } from './bulk.ts'
import { withChildren, withChildResponses } from './children/describe-children.ts'
import { resolveChildren } from './children/resolve-children.ts'
import { csvType, resolveCsv } from './csv.ts'
import { checkDeclared, narrowRequest, narrowSchema } from './declared.ts'
import { describeEmbedLimits, describeRowSchema, withEmbedParameters } from './embed/describe-embeds.ts'
import { resolveEmbeds } from './embed/resolve-embeds.ts'
import { resolveListing } from './listing.ts'
import { isLossy } from './plan.ts'
import { findLocation, makePlan, type Parts } from './plan-method.ts'
import { resolveReferences } from './references.ts'
import { describeList, describeParameters, describePlain, describeRequest, describeRow } from './schemas.ts'
import { describeSearch } from './search/search-plan.ts'
import { checkColumn, columnOf, columnsForCallers, resolveTableUse, type Report, type TableUse } from './table-use.ts'
import { warnAboutUnprotected } from './unprotected.ts'
import { describeUpsert, resolveUpsert } from './upsert.ts'
import { resolveWriting, type Writing } from './writing.ts'

/** Describes one method of a route that uses a table. Pure. */
export function describeTable(
  config: TableConfig,
  use: ActionUse,
  tables: Readonly<Record<string, TablesSnapshot>>,
): ActionDescription {
  const problems: ConfigProblem[] = []
  const report: Report = (at, message, options = {}) => problems.push({ at, message, ...options })
  const table = resolveTableUse(config, use, { tables, report })
  if (table === undefined) return { problems }
  const writing = resolveWriting(table)
  const references = resolveReferences(table, writing)
  const params = describeParams(table, writing)
  const bulk = resolveBulk(table, writing)
  const upsert = resolveUpsert(table, writing)
  const csv = resolveCsv(table)
  const children = resolveChildren(table, writing)
  const isList = table.operation === 'list'
  const isReading = isList || table.operation === 'read'
  const embeds = isReading ? resolveEmbeds(table, writing) : []
  const { list, scans = table.table.view === true } = isList
    ? resolveListing(table, writing, embeds)
    : ({} as Partial<ReturnType<typeof resolveListing>>)
  warnAboutNumbers(table, writing)
  checkJsonLimits(table)
  warnAboutUnprotected(table, writing)
  const isBroken = () => problems.some(({ severity }) => severity !== 'warning')
  if (isBroken()) return { problems }
  const parts = { params, list, scans, references, embeds, bulk, upsert, csv, children }
  const description = describeMethod(table, writing, parts)
  return isBroken() ? { problems } : { ...description, problems }
}

function describeMethod(table: TableUse, writing: Writing, { params, ...parts }: Parts): ActionDescription {
  const { declared } = table.use
  const request = describeRequest(table, writing)
  const { list, embeds } = parts
  const ofList = list && describeParameters(list, columnsForCallers(table))
  const query = withEmbedParameters(ofList, embeds, list?.embedded)
  const { responses, schemas } = describeResponses(table, writing, embeds)
  const description = {
    ...(params !== undefined && { params }),
    ...(query !== undefined && { parameters: narrowSchema(query, declared.parameters) }),
    ...(request !== undefined && { request: narrowRequest(request, table.use) }),
    ...(schemas && { schemas }),
    responses,
  }
  checkDeclared(table, description)
  return {
    ...description,
    ...(request !== undefined && { request: describeSent(table, request, parts) }),
    responses: describeWritten(withChildResponses(responses, parts.children), parts),
    ...(parts.csv && { responseTypes: { 200: { [csvType]: {} } } }),
    ...describeHttp(table, writing, parts),
    plan: makePlan(table, writing, parts),
  }
}

/** Describes the body: one row with its children, or several rows. */
function describeSent(
  { use }: TableUse,
  row: JsonSchema,
  { bulk, children }: Pick<Parts, 'bulk' | 'children'>,
): JsonSchema {
  const narrow = (one: JsonSchema) => narrowRequest(one, use)
  const one = narrow(withChildren(row, children))
  return bulk === undefined ? one : allowSeveral(one, { items: narrow(row), minItems: 1, maxItems: bulk })
}

const problem = { type: 'application/problem+json' }

/** Describes the headers of requests and responses, and the errors of conditions. */
function describeHttp(
  table: TableUse,
  writing: Writing,
  { embeds, upsert, csv }: Pick<Parts, 'embeds' | 'upsert' | 'csv'>,
): { readonly http?: ActionHttp } {
  const { version } = writing
  const etag = version === undefined ? {} : { headers: ['ETag'] }
  switch (table.operation) {
    case 'list': {
      const behavior = { ...describeSearch(table), ...describeEmbedLimits(embeds) }
      const http = {
        ...(Object.keys(behavior).length > 0 && { behavior }),
        ...(csv && { responses: { 200: { headers: ['Link'] } } }),
      }
      return Object.keys(http).length === 0 ? {} : { http }
    }
    case 'insert': {
      const location = findLocation(table, writing)
      const headers = [...(location === undefined ? [] : ['Location']), ...(etag.headers ?? [])]
      if (upsert !== undefined) return { http: describeUpsert(table, { headers, etag }) }
      return { http: headers.length === 0 ? {} : { responses: { 201: { headers } } } }
    }
    case 'read':
      if (!hasEtag(version, embeds)) return { http: {} }
      return { http: { headers: { 'If-None-Match': 'optional' }, responses: { 200: etag, 304: etag } } }
    default:
      return {
        http: {
          headers: {
            ...(version && { 'If-Match': version.required ? 'required' : 'optional' }),
            'If-None-Match': 'optional',
          },
          responses: {
            ...(version && table.operation !== 'delete' && { 200: etag }),
            412: problem,
            ...(version?.required && { 428: problem }),
          },
        },
      }
  }
}

/** Whether some responses of a read have an ETag: those that contain no other rows, whose changes it would not show. */
function hasEtag(version: Writing['version'], embeds: Parts['embeds']): boolean {
  return version !== undefined && !embeds.some(({ plan }) => plan.always)
}

function describeResponses(
  table: TableUse,
  writing: Writing,
  embeds: Parts['embeds'],
): Required<Pick<ActionDescription, 'responses'>> & Pick<ActionDescription, 'schemas'> {
  const { operation, config } = table
  if (operation === 'delete') return { responses: { 204: { type: 'null' } } }
  const isReading = operation === 'list' || operation === 'read'
  const all =
    isReading || config.as === undefined ? embeds : resolveEmbeds({ ...table, report: () => undefined }, writing)
  const plain = describeRow(writing.columns, columnsForCallers(table))
  const { row, schemas } = describeRowSchema(plain, all, { name: config.as, isReading })
  const hasNotModified = operation === 'read' && hasEtag(writing.version, embeds)
  const status = operation === 'insert' ? 201 : 200
  return {
    responses: {
      [status]: operation === 'list' ? describeList(row) : row,
      ...(hasNotModified && { 304: { type: 'null' } }),
    },
    ...(schemas && { schemas }),
  }
}

/** Describes the path parameters. Each must select rows or be stored, otherwise it would be ignored. */
function describeParams(table: TableUse, writing: Writing): JsonSchema | undefined {
  const { params, key, operation, report, use } = table
  const isEntity = operation !== 'list' && operation !== 'insert'
  const keyOf = (name: string) => (isEntity && key.includes(name) ? name : undefined)
  const sources = Object.entries({ ...writing.set, ...writing.where })
  const properties: Record<string, JsonSchema> = {}
  const columns = columnsForCallers(table)
  for (const name of params) {
    const used = sources.find(([, source]) => source.from === 'params' && source.name === name)
    const column = keyOf(name) ?? used?.[0]
    if (column !== undefined) {
      const schema = describePlain(columns[column]!)
      properties[name] = schema['type'] === 'string' ? { ...schema, minLength: 1 } : schema
      continue
    }
    const hint = `Select rows by it with where: { COLUMN: $params.${name} }, or remove it from the path`
    report('', `The path parameter ":${name}" of ${use.path} is neither the key "${key.join(', ')}" nor used`, { hint })
  }
  if (isEntity) checkKey(table, writing)
  if (params.length === 0) return undefined
  return { type: 'object', properties, required: params, additionalProperties: false }
}

function checkKey({ key, params, report, use }: TableUse, { where, owner }: Writing): void {
  for (const name of key) {
    const isKnown =
      params.includes(name) || Object.hasOwn(where, name) || (owner?.column === name && owner.parent === undefined)
    if (isKnown) continue
    const hint = `Add ":${name}" to the path, or "${name}" to "where"`
    report('', `${use.path} does not identify one row, because the key column "${name}" has no value`, { hint })
  }
}

function checkJsonLimits({ config, table, report }: TableUse): void {
  for (const name of Object.keys(config.json ?? {})) {
    const at = `/json/${name}`
    if (!checkColumn(name, table, report, at)) continue
    const { type } = columnOf(table, name)!
    if (type !== 'json') report(at, `The column "${name}" has the type ${type}, not json`, { hint: 'Remove it' })
  }
}

function warnAboutNumbers({ table, report, config }: TableUse, { columns }: Writing): void {
  for (const [index, name] of columns.entries()) {
    const column = table.columns[name]!
    if (!isLossy(column)) continue
    const at = config.columns === 'all' ? '/columns' : `/columns/${index}`
    report(at, `"${name}" has the type ${column.as}, whose values lose digits as JSON numbers`, {
      severity: 'warning',
      hint: `Send them as texts with all digits: exact: [${name}]`,
    })
  }
}
