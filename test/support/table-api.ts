import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CompiledQuery, type Kysely } from 'kysely'
import type { Action, ActionUse, Context, JsonSchema, TableSnapshot } from '../../src/contract/index.ts'
import { compileValidator, type Part } from '../../src/runtime/compile-schema.ts'
import { findConflict } from '../../src/runtime/conflicts.ts'
import { makeSchemaCache } from '../../src/runtime/schema-cache.ts'
import { makeWriter } from '../../src/runtime/write-result.ts'
import type { Manifest, ManifestMethod } from '../../src/release/index.ts'
import { openPostgres, openSqlite } from '../../src/store/index.ts'
import type { TableConfig } from '../../plugins/sql/src/table/config.ts'
import { sqlTable } from '../../plugins/sql/src/table/sql-table.ts'
import { openKysely } from '../../plugins/sql/src/open-kysely.ts'
import { reportQueries } from './recorded-queries.ts'

export interface ApiOptions {
  /** A PostgreSQL database; a new SQLite file if it is undefined. */
  readonly url: string | undefined
  /** Statements that create the tables. */
  readonly schema: readonly string[]
  readonly tables: Readonly<Record<string, TableSnapshot>>
  readonly config: TableConfig
  /** The configs of other actions, by name. */
  readonly actions?: Readonly<Record<string, TableConfig>>
  /** `GET /order` and so on, and the name of the action if it has another config: `GET /line Lines`. */
  readonly routes: readonly string[]
  /** Schemas of requests that methods declare. */
  readonly requests?: Readonly<Record<string, JsonSchema>>
  readonly isPublic?: boolean
  /** The scopes of routes, of which a caller needs one. */
  readonly scopes?: Readonly<Record<string, readonly string[]>>
  /** Called for each statement that reads or writes rows. */
  readonly onQuery?: Parameters<typeof reportQueries>[1]
}

export interface Call {
  readonly user?: string
  readonly scopes?: readonly string[]
  readonly query?: string | Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** By default, 12:00 on 23 November 2026. */
  readonly now?: string
}

export interface Result {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the type of its response
  readonly body: any
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The JSON text of a result that has it, as Waypost would send it. */
  readonly text?: string | undefined
}

/** An API on a real database, without HTTP: requests are validated like those of a server. */
export interface TableApi extends AsyncDisposable {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables differ
  readonly db: Kysely<any>
  /** `GET /order/7` */
  call(operation: string, call?: Call): Promise<Result>
  execute(text: string, parameters?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
}

export const users = {
  ann: '0190a0a0-0000-7000-8000-00000000000a',
  bob: '0190b0b0-0000-7000-8000-00000000000b',
  cid: '0190c0c0-0000-7000-8000-00000000000c',
} as const

const schemas = makeSchemaCache()

class Problem extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

export async function openTableApi(options: ApiOptions): Promise<TableApi> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-table-'))
  const { url, onQuery = () => undefined } = options
  const database =
    url === undefined
      ? openSqlite({ file: path.join(folder, 'test.db'), create: true, synchronous: 'OFF' })
      : openPostgres({ url, applicationName: 'test', max: 8 })
  const opened = openKysely(reportQueries(database, onQuery))
  const db = opened.client
  const execute = async (text: string, parameters: readonly unknown[] = []) =>
    (await db.executeQuery(CompiledQuery.raw(text, [...parameters]))).rows as Record<string, unknown>[]
  for (const statement of options.schema) await execute(statement)
  const methods = await Promise.all(options.routes.map((route) => makeMethod(route, options)))
  return {
    db,
    execute,
    async call(operation, call = {}) {
      const [method, where = ''] = operation.split(' ')
      for (const one of methods) {
        const params = method === one.method ? one.match(where) : undefined
        if (params !== undefined) return one.call({ params, call, db })
      }
      throw new Error(`No route for ${operation}`)
    },
    async [Symbol.asyncDispose]() {
      await opened.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Received {
  readonly params: Record<string, string>
  readonly call: Call
  readonly db: unknown
}

async function makeMethod(
  route: string,
  { url, tables, requests = {}, isPublic = false, scopes = {}, ...options }: ApiOptions,
) {
  const [method = '', where = '', name = 'Main'] = route.split(' ')
  const actions: Readonly<Record<string, TableConfig>> = { Main: options.config, ...options.actions }
  const config = actions[name]!
  const request = requests[route]
  const use: ActionUse = {
    method,
    path: where,
    public: isPublic,
    declared: { responses: {}, ...(request !== undefined && { request }) },
    schemas: {},
    events: {},
    connections: {},
    databases: {},
    actions: actions as unknown as ActionUse['actions'],
    methods: groupMethods(options.routes, { isPublic, scopes }),
  }
  const found = sqlTable.describe!(config, use, { System: { tables } })
  const errors = (found.problems ?? []).filter(({ severity }) => severity !== 'warning')
  if (errors.length > 0) throw new Error(JSON.stringify(errors))
  const description = JSON.parse(JSON.stringify(found)) as typeof found
  const action = await sqlTable.make({
    config,
    plan: description.plan,
    use,
    databases: { System: url === undefined ? 'sqlite' : 'postgresql' },
    host: undefined as never,
  })
  const validator = (schema: JsonSchema | undefined, part: Part) =>
    schema === undefined ? undefined : compileValidator(schema, {}, part)
  const checks = {
    path: validator(description.params, 'path'),
    query: validator(description.parameters, 'query'),
    body: validator(description.request, 'body'),
  }
  const responses = description.responses!
  const write = makeWriter(
    { manifest: { schemas: {} } as Manifest, schemas, checkResults: true },
    { responses } as ManifestMethod,
    route,
  )
  return {
    method,
    match: (given: string) => matchPath(where, given),
    async call({ params, call, db }: Received): Promise<Result> {
      const query = parseQuery(call.query)
      const problems = [
        ...(checks.path?.(params) ?? []),
        ...(checks.query?.(query) ?? []),
        ...(checks.body?.(call.body) ?? []),
      ]
      if (problems.length > 0) return { status: 400, body: { errors: problems }, headers: {} }
      const headers = Object.fromEntries(
        Object.entries(call.headers ?? {}).map(([name, one]) => [name.toLowerCase(), one]),
      )
      const context = makeContext(call, db)
      const isReading = method === 'GET'
      const assertDescribed = (answer: Result): Result => {
        const { status, headers: sent } = answer
        const own = isReading ? [400, 403, 404, 503] : [400, 403, 404, 409, 503]
        const known = { ...description.responses, ...description.http?.responses }
        if (!own.includes(status) && !Object.hasOwn(known, status))
          throw new Error(`${route} does not describe ${status}`)
        const described = description.http?.responses?.[status]?.headers?.map((one) => one.toLowerCase())
        const missing = ['etag', 'location'].filter((one) => sent[one] !== undefined && !described?.includes(one))
        if (missing.length > 0) throw new Error(`${route} does not describe ${missing.join()} of ${status}`)
        return answer
      }
      try {
        const result = await action.handle({ method, url: where, params, query, body: call.body, headers }, context)
        const answer = toResult(result, Math.min(...Object.keys(responses).map(Number)))
        if (answer.headers['content-type'] === 'text/csv') return assertDescribed(answer)
        const { payload, dropped } = write(answer.status, answer.body, undefined)
        if (dropped !== undefined) throw new Error(`${route} does not describe ${dropped.join()}`)
        const body: unknown = payload === undefined ? null : JSON.parse(payload as string)
        const { [Symbol.for('waypost.json-text')]: text } = (answer.body ?? {}) as Record<symbol, string | undefined>
        return assertDescribed({ ...answer, body, ...(text !== undefined && { text }) })
      } catch (error) {
        return assertDescribed(toProblem(error, { method, request: description.request, body: call.body, params }))
      }
    },
  }
}

function groupMethods(
  routes: readonly string[],
  { isPublic, scopes }: Required<Pick<ApiOptions, 'isPublic' | 'scopes'>>,
): ActionUse['methods'] {
  const methods = routes.map((route) => {
    const [method = '', where = '', name = 'Main'] = route.split(' ')
    return { name, access: { method, path: where, public: isPublic, scopes: scopes[route] ?? [] } }
  })
  const groups = Object.entries(Object.groupBy(methods, ({ name }) => name))
  return Object.fromEntries(groups.map(([name, same]) => [name, same!.map(({ access }) => access)]))
}

type Handled = Awaited<ReturnType<Action['handle']>>

class Responded {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string | undefined>>

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string | undefined>> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

function toResult(result: Handled, status: number): Result {
  return result instanceof Responded ? result : { status, body: result, headers: {} }
}

interface Failed {
  readonly method: string
  readonly request: JsonSchema | undefined
  readonly body: unknown
  readonly params: Readonly<Record<string, string>>
}

function toProblem(error: unknown, { method, request, body, params }: Failed): Result {
  if (error instanceof Problem) return { status: error.status, body: { detail: error.message }, headers: {} }
  const parts = { body: [request, body], path: [undefined, params], query: [undefined, {}] } as const
  const conflict = findConflict(error, { method, schemas: {}, parts })
  if (conflict === undefined) throw error
  return { status: 409, body: { detail: conflict.message, errors: conflict.problems }, headers: {} }
}

function makeContext(
  { user = users.ann, scopes = [], now = '2026-11-23T12:00:00.000Z', headers = {} }: Call,
  db: unknown,
): Context {
  return {
    accepts: headers['accept'] ?? 'application/json',
    connection: () => db,
    problem: (status: number, detail: string) => new Problem(status, detail),
    respond: (status: number, body: unknown, headers: never) => new Responded(status, body, headers),
    principal: user === '' ? undefined : { user: { id: user, name: 'test' }, client: { id: 'test' }, scopes },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    now: () => new Date(now),
  } as unknown as Context
}

function matchPath(pattern: string, given: string): Record<string, string> | undefined {
  const [steps, found] = [pattern.split('/'), given.split('/')]
  if (steps.length !== found.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, step] of steps.entries()) {
    if (step.startsWith(':')) params[step.slice(1)] = decodeURIComponent(found[index]!)
    else if (step !== found[index]) return undefined
  }
  return params
}

function parseQuery(query: Call['query'] = ''): Record<string, unknown> {
  if (typeof query !== 'string') {
    const entries = Object.entries(query).filter(([, value]) => value !== undefined)
    return Object.fromEntries(
      entries.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
    )
  }
  const found: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) {
    const before = found[name]
    found[name] = before === undefined ? value : [before, value].flat()
  }
  return found
}
