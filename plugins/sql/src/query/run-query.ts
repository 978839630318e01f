import {
  CompiledQuery,
  sql,
  type Action,
  type CheckOptions,
  type Context,
  type Kysely,
  type MakeOptions,
  type QueryResult,
  type Request,
  type DatabaseKind,
} from 'waypost'
import { makeJsonWriter } from '../table/json-column.ts'
import { kindOf } from '../table/kind-of.ts'
import { findReadOnly } from '../table/read-only.ts'
import { assertExact, explain, explainRefused, isCutOff, restAfter, type Row } from '../table/run.ts'
import { limitBytes } from '../table/statements.ts'
import { queryPlanFormat, type QueryPlan, type QueryValue } from './query-plan.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the statement names the tables
type Client = Kysely<any>

const maxRows = 1000
const maxBytes = 4 * 1024 * 1024

/** Creates the action of one method from its plan. */
export function makeQueryAction({ plan: given, use, databases }: MakeOptions): Action {
  if (given === undefined || use === undefined) throw new Error('The class sql-query can only be used by routes')
  if (given.format !== queryPlanFormat)
    throw new Error(
      `The plan has the format ${given.format}, but this version of sql-query supports format ${queryPlanFormat}`,
    )
  const plan = given as unknown as QueryPlan
  const reads = plan.values.map(makeRead)
  // Without a value of the caller, the statement or a view is the reason of an error about a value.
  const isFromCaller = plan.values.some((value) => 'name' in value)
  let known: CompiledQuery | undefined
  return {
    async handle(request: Request, context: Context) {
      const client = context.connection(plan.connection) as Client
      const kind = databases[plan.connection] ?? kindOf(client)
      if (kind === undefined) throw new Error(describeOther(plan.connection))
      const statement = known ?? (await prepareStatement(client, kind, { plan, context }))
      known = statement
      const query = { ...statement, parameters: reads.map((read) => read(request, context)) }
      let result: QueryResult<unknown>
      try {
        result = await execute(client, query, plan.isReadOnly && kind === 'postgresql')
      } catch (error) {
        throw explainRefused(error, {}, context) ?? explain(error, context, isFromCaller)
      }
      await restAfter(result.rows)
      if (kind === 'postgresql') readDecimals(plan, result.rows as Record<string, unknown>[])
      return makeResponse(plan, result, context)
    },
  }
}

/** Returns the statement on its first use. @throws if it uses tables of Waypost, or a problem with status 400 */
async function prepareStatement(
  client: Client,
  kind: DatabaseKind,
  { plan, context }: { readonly plan: QueryPlan; readonly context: Context },
): Promise<CompiledQuery> {
  const text = writeStatement(plan, kind)
  const [own] = await findOwnTables(client, kind, text).catch((error: unknown) => {
    throw explain(error, context, false)
  })
  if (own !== undefined) throw new Error(describeOwnTable(own))
  return CompiledQuery.raw(text)
}

const describeOther = (connection: string) => `The connection "${connection}" is not a SQL database`
const describeOwnTable = (name: string) => `The statement uses the table "${name}", which belongs to Waypost`

/** Lets the database check the statement without running it. Returns the problem, if any. */
export async function findStatementProblems({
  plan: given,
  connection,
  databases,
}: CheckOptions): Promise<readonly string[]> {
  const plan = given as unknown as QueryPlan
  const client = (await connection(plan.connection)) as Client
  const kind = databases[plan.connection] ?? kindOf(client)
  if (kind === undefined) return [describeOther(plan.connection)]
  try {
    const [own] = await findOwnTables(client, kind, writeStatement(plan, kind))
    if (own !== undefined) return [describeOwnTable(own)]
    const refusal = plan.isReading ? undefined : await findReadOnly(client, kind)
    return refusal === undefined ? [] : [refusal]
  } catch (error) {
    const { code } = error as { readonly code?: string }
    const isStatementError = code === 'ERR_SQLITE_ERROR' || /^(22|42|0A)[0-9A-Z]{3}$/.test(code ?? '')
    if (!isStatementError) throw error
    const [message = ''] = (error as Error).message.split('\n')
    return [message.replaceAll(/\$(\d+)/g, (mark, digits: string) => nameOf(plan.values[Number(digits) - 1]) ?? mark)]
  }
}

/**
 * Returns the tables of Waypost that a statement uses, also through views, by preparing it. Functions that read tables
 * are not examined.
 * @throws the database's error if the statement is not valid
 */
async function findOwnTables(client: Client, kind: DatabaseKind, text: string): Promise<readonly string[]> {
  if (kind === 'sqlite') return findOwnTablesOnSqlite(client, text)
  if (client.isTransaction) return findOwnTablesOnPostgres(client, text)
  // In a transaction, because a pooler may use another session for the next statement.
  return client.transaction().execute((transaction) => findOwnTablesOnPostgres(transaction, text))
}

/** The program of a statement opens each table and index at its root page. */
async function findOwnTablesOnSqlite(client: Client, text: string): Promise<readonly string[]> {
  const own = await sql<{ page: number; name: string }>`
    select rootpage as page, tbl_name as name from sqlite_schema where tbl_name like 'waypost~_%' escape '~'`.execute(
    client,
  )
  const names = new Map(own.rows.map(({ page, name }) => [page, name]))
  const { rows } = await client.executeQuery(CompiledQuery.raw(`explain ${text}`))
  const found = (rows as readonly Program[]).flatMap(({ opcode, p1, p2 }) => {
    const page = opcode === 'Clear' ? p1 : /^(Open(Read|Write)|ReopenIdx)$/.test(opcode) ? p2 : undefined
    return page === undefined ? [] : (names.get(page) ?? [])
  })
  return [...new Set(found)]
}

interface Program {
  readonly opcode: string
  readonly p1: number
  readonly p2: number
}

/** PostgreSQL locks the tables of a statement that it prepares until the transaction ends. */
async function findOwnTablesOnPostgres(client: Client, text: string): Promise<readonly string[]> {
  const listLocked = async () => {
    const { rows } = await sql<{ name: string }>`
      select c.relname as name from pg_catalog.pg_locks l join pg_catalog.pg_class c on c.oid = l.relation
      where l.pid = pg_backend_pid() and l.locktype = 'relation' and c.relkind in ('r', 'p') and c.relname like 'waypost~_%' escape '~'
    `.execute(client)
    return rows.map(({ name }) => name)
  }
  const before = new Set(await listLocked())
  await client.executeQuery(CompiledQuery.raw(`prepare waypost_check as ${text}`))
  const after = await listLocked()
  await client.executeQuery(CompiledQuery.raw('deallocate waypost_check'))
  return after.filter((name) => !before.has(name))
}

function nameOf(value: QueryValue | undefined): string | undefined {
  if (value === undefined) return undefined
  return 'name' in value ? `:${value.name}` : value.from === 'user' ? ':user.id' : ':now'
}

/**
 * Returns the text of a statement. A query becomes part of another one, which limits its rows and cannot change data, except
 * through functions.
 */
export function writeStatement({ text, answer, isReading }: QueryPlan, kind: DatabaseKind): string {
  const mark = kind === 'postgresql' ? '$' : '?'
  const statement = text.map((part) => (typeof part === 'string' ? part : `${mark}${part + 1}`)).join('')
  if (!isReading || answer === 'none') return statement
  const scan = statement.startsWith('/* scan */') ? '/* scan */ ' : ''
  return `${scan}${limitBytes(maxBytes)}select * from (\n${statement}\n) as waypost_query limit ${answer === 'row' ? 1 : maxRows + 1}`
}

/** Functions of PostgreSQL can change data; those of SQLite cannot. */
function execute(client: Client, query: CompiledQuery, isReadOnly: boolean): Promise<QueryResult<unknown>> {
  if (!isReadOnly || client.isTransaction) return client.executeQuery(query)
  return client
    .transaction()
    .setAccessMode('read only')
    .execute((transaction) => transaction.executeQuery(query))
}

type Read = (request: Request, context: Context) => unknown

/** Returns a function that reads a value of a request. It throws a problem with status 400 for JSON beyond the limits. */
function makeRead(value: QueryValue): Read {
  if (!('name' in value))
    return value.from === 'now'
      ? (_, context) => context.now().toISOString()
      : (_, context) => context.principal?.user.id ?? null
  const { from, name, json, limits } = value
  const write = makeJsonWriter(limits)
  return (request, context) => {
    const values = (request[from] ?? {}) as Row
    const found = (Object.hasOwn(values, name) ? values[name] : undefined) ?? null
    if (found === null || from !== 'body' || (json !== true && typeof found !== 'object')) return found
    const written = write(found)
    if ('expected' in written) throw context.problem(400, `"${name}" must be ${written.expected}`)
    return Array.isArray(found) ? found : written.text // the driver knows whether PostgreSQL expects an array
  }
}

/** Decimals of PostgreSQL, also sums and averages, are texts, unless the response declares a number. */
function readDecimals({ numbers = [] }: QueryPlan, rows: readonly Record<string, unknown>[]): void {
  for (const row of rows) {
    for (const name of numbers) {
      const value = row[name]
      if (typeof value !== 'string' || !/^(-?\d+(\.\d+)?|NaN|-?Infinity)$/.test(value)) continue
      const advice = 'Declare it as "type: string" in the response'
      assertExact(value, `The column "${name}"`, value.includes('.') ? advice : integerAdvice)
      row[name] = Number(value)
    }
  }
}

const integerAdvice = 'Declare it as "type: [integer, string]" in the response'

function makeResponse(plan: QueryPlan, { rows, numAffectedRows }: QueryResult<unknown>, context: Context): unknown {
  const { answer, numbers = [] } = plan
  for (const row of rows as readonly Row[]) {
    for (const name of numbers) assertExact(row[name], `The column "${name}"`, integerAdvice)
  }
  if (answer === 'rows') {
    if (isCutOff(rows)) context.log.warn(`sql-query: the statement returned more than ${maxBytes} bytes`)
    if (rows.length > maxRows) context.log.warn(`sql-query: the statement returned more than ${maxRows} rows`)
    return rows.length > maxRows ? rows.slice(0, maxRows) : rows
  }
  const isMissing = answer === 'row' ? rows.length === 0 : plan.isAboutExisting && numAffectedRows === 0n
  if (isMissing) throw context.problem(404, 'Not found')
  return rows[0]
}
