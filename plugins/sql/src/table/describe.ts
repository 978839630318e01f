import type { ActionDescription, ActionHttp, ActionUse, ConfigProblem, JsonSchema, TablesSnapshot } from 'waypost'
import type { TableConfig } from './config.ts'
import { checkDeclared, narrowRequest, narrowSchema } from './declared.ts'
import { describeRowSchema, withEmbedParameters, type ResolvedEmbed } from './embed/describe-embeds.ts'
import { resolveEmbeds } from './embed/resolve-embeds.ts'
import { resolveListing } from './listing.ts'
import {
  isLossy,
  planFormat,
  toPlanColumn,
  valueTypeOf,
  type ListPlan,
  type PlanColumn,
  type ReferencePlan,
  type TablePlan,
} from './plan.ts'
import { resolveReferences } from './references.ts'
import { describeInput, describeList, describeParameters, describePlain, describeRow } from './schemas.ts'
import { checkColumn, columnOf, columnsForCallers, resolveTableUse, type Report, type TableUse } from './table-use.ts'
import { warnAboutUnprotected } from './unprotected.ts'
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
  const description = describeMethod(table, writing, { params, list, scans, references, embeds })
  checkDeclared(table, description)
  return isBroken() ? { problems } : { ...description, problems }
}

interface Parts {
  readonly params: JsonSchema | undefined
  readonly list: ListPlan | undefined
  readonly scans: boolean
  readonly references: readonly ReferencePlan[]
  readonly embeds: readonly ResolvedEmbed[]
}

function describeMethod(table: TableUse, writing: Writing, { params, ...parts }: Parts): ActionDescription {
  const { declared } = table.use
  const request = describeRequest(table, writing)
  const { list, embeds } = parts
  const ofList = list && describeParameters(list, columnsForCallers(table))
  const query = withEmbedParameters(ofList, embeds, list?.embedded)
  return {
    ...(params !== undefined && { params }),
    ...(query !== undefined && { parameters: narrowSchema(query, declared.parameters) }),
    ...(request !== undefined && { request: narrowRequest(request, table.use) }),
    ...describeResponses(table, writing, embeds),
    ...describeHttp(table, writing, embeds),
    plan: makePlan(table, writing, parts),
  }
}

const problem = { type: 'application/problem+json' }

/** Describes the headers of requests and responses, and the errors of conditions. */
function describeHttp(table: TableUse, writing: Writing, embeds: Parts['embeds']): { readonly http?: ActionHttp } {
  const { version } = writing
  const etag = version === undefined ? {} : { headers: ['ETag'] }
  switch (table.operation) {
    case 'list':
      return {}
    case 'insert': {
      const location = findLocation(table, writing)
      const headers = [...(location === undefined ? [] : ['Location']), ...(etag.headers ?? [])]
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
): Pick<ActionDescription, 'responses' | 'schemas'> {
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

/** Schemas of bodies have no defaults, so that a change never writes a column that the caller did not send. */
function describeRequest(tableUse: TableUse, { write }: Writing): JsonSchema | undefined {
  const { operation, table } = tableUse
  if (!['insert', 'replace', 'update'].includes(operation)) return undefined
  const columns = columnsForCallers(tableUse)
  const properties = Object.fromEntries(write.map((name) => [name, describeInput(columns[name]!)]))
  const required = write.filter((name) => {
    const { null: isNullable, default: hasDefault, type } = table.columns[name]!
    return operation === 'replace' || (!isNullable && !hasDefault && type !== 'id')
  })
  return {
    type: 'object',
    properties,
    ...(operation !== 'update' && required.length > 0 && { required }),
    ...(operation === 'update' && { minProperties: 1 }),
    additionalProperties: false,
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
      hint: 'Store an integer of the smallest unit, for example cents',
    })
  }
}

/** Returns the column whose value completes the path of a new row. */
function findLocation({ key }: Pick<TableUse, 'key'>, { where, owner, columns }: Writing): string | undefined {
  const fixed = new Set([...Object.keys(where), owner?.parent === undefined ? owner?.column : undefined])
  const [first, ...others] = key.filter((name) => !fixed.has(name))
  return first !== undefined && others.length === 0 && columns.includes(first) ? first : undefined
}

function makePlan(
  { use, config, connection, operation, table, key, params }: TableUse,
  writing: Writing,
  { list, scans, references, embeds }: Omit<Parts, 'params'>,
) {
  const { columns, where, owner, version, write, set } = writing
  const location = operation === 'insert' ? findLocation({ key }, writing) : undefined
  const isSet = (name: string) => Object.hasOwn(set, name) || name === owner?.column
  const now =
    operation === 'insert' ? Object.keys(table.columns).filter((name) => table.columns[name]!.now && !isSet(name)) : []
  const used = new Set([
    ...columns,
    ...Object.keys(where),
    ...write,
    ...Object.keys(set),
    ...now,
    ...key,
    ...[...references.flatMap((one) => one.columns), ...embeds.map(({ plan }) => plan.own)].filter(
      (name) => valueTypeOf(table.columns[name]!) !== undefined,
    ),
    ...[owner, version].flatMap((one) => (one === undefined ? [] : [one.column])),
  ])
  const types = [...used].sort().map((name): [string, PlanColumn] => {
    const column = table.columns[name]!
    const hasDefault = column.default ?? (column.type === 'id' || undefined)
    return [
      name,
      {
        ...toPlanColumn(column),
        ...(hasDefault && { default: true }),
        ...(config.json?.[name] && { limits: config.json[name] }),
      },
    ]
  })
  // A declared response replaces the derived one, and may look inside the values.
  const isDeclared = Object.keys(use.declared.responses).some((status) => status.startsWith('2'))
  const embedded = embeds.flatMap(({ plan }) => plan.columns.map((name) => plan.types[name]!))
  const hasJson = [...columns.map((name) => table.columns[name]!), ...embedded].some(({ type }) => type === 'json')
  const isWriting = ['insert', 'replace', 'update'].includes(operation)
  const isTogether = connection === 'System' && use.dispatch !== undefined && use.method !== 'GET'
  return {
    format: planFormat,
    ...(isTogether && { transaction: connection }),
    operation,
    connection,
    table: config.table,
    types: Object.fromEntries(types),
    columns,
    where,
    ...(owner && { owner }),
    ...(references.length > 0 && { references }),
    ...(embeds.length > 0 && { embeds: embeds.map(({ plan }) => plan) }),
    ...(version && { version }),
    key: ['list', 'insert'].includes(operation) ? [] : key.filter((name) => params.includes(name)),
    ...(isWriting && key.every((name) => columns.includes(name)) && { identity: key }),
    write,
    set,
    ...(now.length > 0 && { now }),
    ...(list && { list }),
    ...(scans && { scans }),
    ...(hasJson && !isDeclared && { jsonAsText: true as const }),
    ...(location !== undefined && { location }),
  } satisfies TablePlan
}
