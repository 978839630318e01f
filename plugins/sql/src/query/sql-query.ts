import type { ActionClass, ActionUse, ConfigProblem, JsonSchema } from 'waypost'
import { jsonLimits, type JsonLimits } from '../table/config.ts'
import { collectProperties } from '../table/declared.ts'
import { isJsonProperty, resolveReference } from './json-properties.ts'
import { parseStatement, type Placeholder } from './parse-statement.ts'
import { queryPlanFormat, type QueryPlan, type QueryValue } from './query-plan.ts'

interface QueryConfig {
  readonly connection: string
  readonly query: string
  readonly json?: Readonly<Record<string, JsonLimits>>
}

const config = {
  type: 'object',
  required: ['query'],
  properties: {
    connection: {
      type: 'string',
      description: 'A connection of a SQL database',
      default: 'System',
      'x-waypost': 'connection',
    },
    query: {
      type: 'string',
      description:
        'One SQL statement. :name is a parameter of the path, the query string or the body; :user.id is the caller, and :now the current time',
      minLength: 1,
    },
    json: {
      type: 'object',
      description: 'Limits for the objects and arrays that callers send, by property of the body',
      minProperties: 1,
      additionalProperties: jsonLimits,
    },
  },
  additionalProperties: false,
}

/** Runs one SQL statement. */
export const sqlQuery: ActionClass<QueryConfig> = {
  description: 'Runs one SQL statement and returns its rows',
  routesOnly: true,
  config,
  describe({ connection, query, json = {} }, use) {
    const parsed = parseStatement(query, { isSqlite: use.databases[connection] === 'sqlite' })
    if ('problem' in parsed) return { problems: [{ at: '/query', message: parsed.problem }] }
    const { parts, verb, isReading } = parsed
    const problems: ConfigProblem[] = []
    if (use.method === 'GET' && !isReading) {
      const hint = 'Use POST, PUT, PATCH or DELETE for a statement that changes data'
      problems.push({ at: '/query', message: 'A GET request cannot change data', hint })
    }
    const names = [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])))]
    const values = new Map(names.map((name) => [name, findValue(name, use, problems)]))
    setLimits(values, json, problems)
    const answer = findResponse(use, problems)
    const plan: QueryPlan = {
      format: queryPlanFormat,
      connection,
      text: parts.map((part) => (typeof part === 'string' ? part : indexOf(part, names))),
      values: [...values.values()].filter((value) => value !== undefined),
      answer: answer?.kind ?? 'none',
      ...(answer !== undefined && answer.numbers.length > 0 && { numbers: answer.numbers }),
      isReading,
      isReadOnly: use.method === 'GET',
      isAboutExisting: verb === 'update' || verb === 'delete',
    }
    const isJoined = !isReading && connection === 'System' && use.dispatch !== undefined
    return { problems, plan: { ...plan, ...(isJoined ? { transaction: 'System' } : {}) } }
  },
  async check(options) {
    const { findStatementProblems } = await import('./run-query.ts')
    return findStatementProblems(options)
  },
  async make(options) {
    const { makeQueryAction } = await import('./run-query.ts')
    return makeQueryAction(options)
  },
}

function setLimits(
  values: Map<string, QueryValue | undefined>,
  json: Readonly<Record<string, JsonLimits>>,
  problems: ConfigProblem[],
): void {
  for (const [name, limits] of Object.entries(json)) {
    const value = values.get(name)
    if (value?.from === 'body') values.set(name, { ...value, limits })
    else
      problems.push({
        at: `/json/${name}`,
        message: `"${name}" is not a property of the body that the query uses`,
        hint: 'Remove it',
      })
  }
}

function indexOf({ name }: Placeholder, names: readonly string[]): number {
  return names.indexOf(name)
}

/** Finds where the value of a parameter comes from. */
function findValue(name: string, use: ActionUse, problems: ConfigProblem[]): QueryValue | undefined {
  const report = (message: string, hint: string, known: readonly string[] = []): undefined => {
    problems.push({ at: '/query', message, hint, unknown: { name, known } })
  }
  const { parameters, request } = use.declared
  const params = use.path.split('/').flatMap((step) => (/^[:*]/.test(step) ? [step.slice(1)] : []))
  const [query, body] = [propertiesOf(parameters, use), propertiesOf(request, use)]
  const places: QueryValue[] = [
    ...(params.includes(name) ? [{ from: 'params' as const, name }] : []),
    ...(query.includes(name) ? [{ from: 'query' as const, name }] : []),
    ...(body.includes(name)
      ? [{ from: 'body' as const, name, ...(isJsonProperty(name, use) && { json: true as const }) }]
      : []),
    ...(name === 'now' ? [{ from: 'now' as const }] : []),
  ]
  if (name.split('.')[0] === 'user') {
    if (name !== 'user.id') return report(`":${name}" is not known`, 'The only parameter about the caller is :user.id')
    if (use.public) return report('":user.id" is not available in a public method', 'Remove "public", or the parameter')
    return { from: 'user' }
  }
  if (places.length === 0)
    return report(`":${name}" is not a parameter of the method`, `Declare "${name}" in "parameters" or "request"`, [
      ...params,
      ...query,
      ...body,
    ])
  if (places.length > 1) {
    const labels = { params: 'the path', query: 'the query string', body: 'the body', now: 'the current time' }
    const listed = places.map(({ from }) => labels[from as keyof typeof labels]).join(' and ')
    return report(`":${name}" has two meanings: it is in ${listed}`, 'Rename one of the two')
  }
  return places[0]
}

function propertiesOf(schema: JsonSchema | undefined, { schemas }: ActionUse): readonly string[] {
  return schema === undefined ? [] : collectProperties(schema, schemas)
}

/** Keywords with which a schema of a row can allow columns. */
const columnKeywords = ['properties', 'additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref']

interface ResponseShape {
  readonly kind: QueryPlan['answer']
  /** The columns that are declared as numbers and not as text. */
  readonly numbers: readonly string[]
}

/** Finds what the method responds with, by the schema of its lowest 2xx status. */
function findResponse({ declared, schemas }: ActionUse, problems: ConfigProblem[]): ResponseShape | undefined {
  const lowest = Object.keys(declared.responses).find((status) => status.startsWith('2'))
  if (lowest === '204' || lowest === '205') return { kind: 'none', numbers: [] }
  const schema = lowest === undefined ? undefined : resolveSchema(declared.responses[lowest]!, schemas)
  const type = schema && typeOf(schema)
  if (type !== undefined) {
    const row = type === 'object' ? schema : resolveSchema((schema?.['items'] ?? true) as JsonSchema, schemas)
    if (row !== undefined && !columnKeywords.some((keyword) => Object.hasOwn(row, keyword)))
      problems.push({
        at: '/query',
        severity: 'warning',
        message: 'Rows will be empty, because the schema of the response declares no columns',
        hint: 'Add the columns to "properties"',
      })
    return { kind: type === 'object' ? 'row' : 'rows', numbers: findNumbers(row, schemas) }
  }
  const message =
    lowest === undefined
      ? 'The method needs a response'
      : `The schema of the ${lowest} response is neither an array nor an object`
  const hint = 'Declare "response" as an array for all rows, as an object for the first row, or "responses: { 204: }"'
  problems.push({ at: '/query', message, hint })
  return undefined
}

type Schema = Readonly<Record<string, unknown>>

/** Returns the schema, or the one that it refers to, that has a type: an array or an object. */
function resolveSchema(schema: JsonSchema, named: ActionUse['schemas'], depth = 0): Schema | undefined {
  if (typeof schema === 'boolean' || depth > 20) return undefined
  if (typeOf(schema) !== undefined) return schema
  const { $ref, allOf = [] } = schema as { $ref?: string; allOf?: readonly JsonSchema[] }
  const target = resolveReference($ref, named)
  for (const one of [...(target === undefined ? [] : [target]), ...allOf]) {
    const found = resolveSchema(one, named, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function typeOf({ type }: Schema): 'array' | 'object' | undefined {
  return (['array', 'object'] as const).find((one) => [type].flat().includes(one))
}

function findNumbers(row: Schema | undefined, named: ActionUse['schemas']): readonly string[] {
  const properties = Object.entries((row?.['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)
  return properties.flatMap(([name, schema]) => {
    const { $ref } = (typeof schema === 'object' ? schema : {}) as { readonly $ref?: string }
    const target = resolveReference($ref, named) ?? schema
    const types = typeof target === 'object' ? [target['type']].flat() : []
    const isNumber = types.includes('integer') || types.includes('number')
    return isNumber && !types.includes('string') ? [name] : []
  })
}
