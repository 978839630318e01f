import { setImmediate as nextTurn } from 'node:timers/promises'
import { CompiledQuery, type Context, type Kysely, type Principal, type DatabaseKind } from 'waypost'
import { nameBrokenReference } from './broken-reference.ts'
import { explainChanged } from './changed-tables.ts'
import type { TablePlan } from './plan.ts'
import { listUnless } from './references.ts'
import type { Access } from './row-conditions.ts'
import type { Input, Statement } from './statement-values.ts'
import { StatementWriter } from './statements.ts'
import { isValueError } from './value-errors.ts'
import { valueTypes } from './value-types.ts'
import { InvalidValue } from './values.ts'

export type Row = Readonly<Record<string, unknown>>
// oxlint-disable-next-line typescript/no-explicit-any -- the tables are only known to the plan
type Client = Kysely<any>

/** The input of `Action.handle`, whatever the route. */
export interface TableRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export type Handler = (request: TableRequest, context: Context) => Promise<unknown>

/** How problems of a request are reported. */
export type Reporting = Pick<Context, 'problem' | 'log'>

/** A database connection with the statements of one method. */
export interface TableDatabase {
  readonly kind: DatabaseKind
  readonly client: Client
  /** Whether what a statement does can still be rolled back. */
  readonly isTransaction: boolean
  /**
   * Runs a statement. `key` identifies its text among those of the method. A change without rows in its result returns one
   * empty row if it changed any. @throws a problem with status 400, 403 or 409
   */
  run(key: string, write: (writer: StatementWriter) => Statement, input: Input): Promise<readonly Row[]>
  /** Like `run`, but throws the error of the database, for a statement that is repeated. */
  attempt: TableDatabase['run']
  /** Converts an error of `attempt` to that of `run`. */
  explain(error: unknown, input: Input): Promise<unknown>
  /** Returns the same database, which reports problems in another way. */
  reportTo(context: Reporting): TableDatabase
  /** Runs statements that an error undoes: in a transaction, or as a part of the open one. */
  transaction<Value>(work: (database: TableDatabase) => Promise<Value>): Promise<Value>
}

interface Prepared {
  readonly compiled: CompiledQuery
  readonly values: Statement['values']
  readonly isFromCaller: boolean
}

/** Callers choose filters and properties, so the number of texts is limited. Further ones are written for each request. */
const maxTexts = 256

/** Opens the database of a plan for a request, or joins the transaction of another plan. */
export type DatabaseOpener = (context: Context, within?: TableDatabase) => TableDatabase

/** Returns a function that opens the database of a plan. The texts of statements are written once. */
export function makeDatabaseOpener(plan: TablePlan, kind: DatabaseKind): DatabaseOpener {
  const known = new Map<string, Prepared>()
  const writer = new StatementWriter(plan, kind)
  const prepare = (key: string, write: (writer: StatementWriter) => Statement): Prepared => {
    const found = known.get(key)
    if (found !== undefined) return found
    const { text, values, isFromCaller } = write(writer)
    const prepared = { compiled: CompiledQuery.raw(text), values, isFromCaller }
    if (known.size < maxTexts) known.set(key, prepared)
    return prepared
  }
  const open = (client: Client, context: Reporting): TableDatabase => {
    const execute = async ({ compiled, values }: Prepared, input: Input): Promise<readonly Row[]> => {
      const parameters = values.map((read) => read(input))
      const { rows, numAffectedRows = 0n } = await client.executeQuery({ ...compiled, parameters })
      return rows.length === 0 && numAffectedRows > 0n ? [{}] : (rows as readonly Row[])
    }
    const explainError = async (error: unknown, { body }: Input, isFromCaller = true) => {
      const refused = explainRefused(error, plan, context) ?? explainChanged(error, plan, context)
      if (refused !== undefined) return refused
      const named = await nameBrokenReference(error, { client, plan, body })
      return explain(named, context, isFromCaller && !isOwnFault(error))
    }
    const run: TableDatabase['run'] = async (key, write, input) => {
      const prepared = prepare(key, write)
      try {
        return await execute(prepared, input)
      } catch (error) {
        throw await explainError(error, input, prepared.isFromCaller)
      }
    }
    const attempt: TableDatabase['run'] = (key, write, input) => execute(prepare(key, write), input)
    const transaction: TableDatabase['transaction'] = (work) =>
      client.isTransaction
        ? withSavepoint(client, () => work(open(client, context)))
        : client.transaction().execute((joined) => work(open(joined, context)))
    const reportTo = (other: Reporting) => open(client, other)
    return {
      kind,
      client,
      isTransaction: client.isTransaction,
      run,
      attempt,
      explain: explainError,
      reportTo,
      transaction,
    }
  }
  return (context, within) => open(within?.client ?? (context.connection(plan.connection as never) as Client), context)
}

/** Undoes what the work has done in a transaction if it fails. */
async function withSavepoint<Value>(client: Client, work: () => Promise<Value>): Promise<Value> {
  const execute = (text: string) => client.executeQuery(CompiledQuery.raw(text))
  await execute('savepoint "~step"')
  try {
    const value = await work()
    await execute('release savepoint "~step"')
    return value
  } catch (error) {
    // If the connection is lost, the transaction is too.
    await execute('rollback to savepoint "~step"').then(() => execute('release savepoint "~step"'), ignore)
    throw error
  }
}

function ignore(): void {}

const cutOff = Symbol.for('waypost.rows-cut-off')

/** Whether a query would have returned more rows, but for the limit of bytes. */
export function isCutOff(rows: readonly unknown[]): boolean {
  return cutOff in rows
}

const large = Symbol.for('waypost.rows-large')

/** Lets other requests have their turn after large rows were read, before they are checked and written. */
export async function restAfter(rows: readonly unknown[]): Promise<void> {
  if (large in rows) await nextTurn()
}

/** Whether an error comes from the expressions of a view, a trigger or a computed column: no value is divided by another. */
function isOwnFault(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === '22012'
}

/**
 * Returns the problem if the database does not let the role of the connection do this, or replaces it by a rule.
 * @param plan its table; none for a statement that the project wrote
 */
export function explainRefused(
  error: unknown,
  { table }: { readonly table?: string },
  context: Reporting,
): Error | undefined {
  const { code, routine } = error as Readonly<Record<'code' | 'routine', unknown>>
  const isReadOnly = isReadOnlyError(error)
  if (code === '44000' || (code === '42501' && routine === 'ExecWithCheckOptions'))
    return context.problem(403, 'A policy of the database does not allow this row')
  if (code !== '42501' && (code !== '0A000' || table === undefined) && !isReadOnly) return undefined
  const own = table === undefined ? {} : { table }
  context.log.error({ err: error, ...own }, 'the database does not allow this')
  if (code === '0A000') return context.problem(409, 'A rule of the database replaces this change, so it has no result')
  return context.problem(403, isReadOnly ? 'The database is read-only' : 'The database does not allow this')
}

/** Whether SQLite refused a change because the file can only be read. */
export function isReadOnlyError(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' && (errcode & 0xff) === sqliteReadOnly
}

const sqliteReadOnly = 8

/** Returns the problem of a change that succeeded and returned no row, although the row exists. A trigger may have done something else. */
export function makeSuppressed({ table }: TablePlan, context: Reporting): Error {
  context.log.warn({ table }, 'sql-table: a trigger or rule of the database suppressed a change')
  return context.problem(409, 'A trigger or rule of the database suppressed this change')
}

/**
 * Converts an error about a value to a problem. Violations of constraints are left to Waypost.
 * @param isFromCaller whether the statement has a value of the caller that may be the reason
 */
export function explain(error: unknown, context: Reporting, isFromCaller = true): unknown {
  if (error instanceof InvalidValue) return context.problem(400, error.message)
  if (!isFromCaller || !isValueError(error)) return error
  context.log.info({ err: error }, 'database rejected a value of the request')
  return context.problem(
    400,
    'The database rejected a value of the request: it is out of range or does not fit its type',
  )
}

export function makeInput({ params, query, body }: TableRequest, context: Context): Input {
  return {
    params: (params ?? {}) as Row,
    query: (query ?? {}) as Row,
    body: (body ?? {}) as Row,
    userId: context.principal?.user.id,
    now: context.now().toISOString(),
  }
}

/** Returns a function that returns the scopes of a caller that give access to the rows of all users. */
export function makeAccess(plan: TablePlan): (principal: Principal | undefined) => Access {
  const scopes = listUnless(plan)
  const none: Access = []
  if (scopes.length === 0) return () => none
  return (principal) => scopes.filter((scope) => principal?.scopes.includes(scope))
}

type RowPlan = Pick<TablePlan, 'columns' | 'types' | 'table'>

/** Makes the response of a row. @returns the column of a value that does not fit its type and is sent as null, if any */
export type RowResponse = (row: Row, extras: readonly string[], context: Context) => string | undefined

/**
 * Returns a function that makes the response of a row. It changes the row instead of copying it: undefined values are not
 * serialized.
 *
 * A value that does not fit the type of its column must not break a list for everyone: SQLite stores any value in any
 * column, and PostgreSQL has times such as "infinity". It becomes NaN, which Waypost sends as null.
 */
export function makeRowResponse({ columns, types, table }: RowPlan): RowResponse {
  const reads = columns.flatMap((name) => {
    const { read } = valueTypes[types[name]!.type]
    return read === undefined ? [] : [[name, types[name]!, read] as const]
  })
  const checks = columns.map((name) => [name, types[name]!, valueTypes[types[name]!.type].fits] as const)
  const reported = new Set<string>()
  return (row, extras, context) => {
    const response = row as Record<string, unknown>
    for (const name of extras) if (Object.hasOwn(row, name)) response[name] = undefined
    for (const [name, column, read] of reads) if (row[name] !== null) response[name] = read(row[name], column)
    let unfit: string | undefined
    for (const [name, column, isFit] of checks) {
      const value = row[name]
      if (value === null || isFit(value, column)) continue
      if (!reported.has(name)) {
        reported.add(name)
        const advice = adviceFor(column.type, value)
        context.log.warn(
          { table, column: name, type: column.type },
          `sql-table: a value does not fit its column; sent as null${advice}`,
        )
      }
      response[name] = Number.NaN
      unfit = name
    }
    return unfit
  }
}

function adviceFor(type: string, value: unknown): string {
  const isLarge = (type === 'integer' || type === 'id') && typeof value === 'string' && /^-?\d+$/.test(value)
  return isLarge ? '. A JSON number cannot represent it exactly: use a column of the type bigint' : ''
}

/**
 * Returns a function that writes rows whose JSON columns are texts; undefined if no column is. The texts are not parsed:
 * that would take long, and would round numbers.
 */
export function makeRowWriter({
  columns,
  types,
  jsonAsText,
}: Pick<TablePlan, 'columns' | 'types' | 'jsonAsText'>): ((row: Row) => string) | undefined {
  if (!jsonAsText) return undefined
  const parts = columns.map((name) => ({
    name,
    prefix: `${JSON.stringify(name)}:`,
    write: types[name]!.type === 'json' ? (value: unknown) => (value as string | null) ?? 'null' : JSON.stringify,
  }))
  return (row) => `{${parts.map(({ name, prefix, write }) => prefix + write(row[name])).join()}}`
}

/**
 * Integers beyond 2^53 are read as text. The serializer would round them if the schema only allows numbers.
 * @throws if the value is such an integer
 */
export function assertExact(value: unknown, name: string, advice: string): void {
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value)) return
  if (Number.isSafeInteger(Math.trunc(Number(value)))) return
  throw new Error(`${name} is ${value}, which a JSON number cannot represent exactly. ${advice}`)
}
