import { CompiledQuery, type Kysely, type QueryResult } from 'kysely'
import type { Action, CheckOptions, Context, MakeOptions, Request } from 'waypost'
import { assertExact, explain, kindOf, type Row } from '../table/run.ts'
import type { DatabaseKind } from '../table/values.ts'
import { queryPlanFormat, type QueryPlan, type QueryValue } from './query-plan.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the statement names the tables
type Client = Kysely<any>

const maxRows = 1000

/** Creates the action of one method from its plan. */
export function makeQueryAction({ plan: given, use }: MakeOptions): Action {
  if (given === undefined || use === undefined) throw new Error('The class sql-query can only be used by routes')
  if (given.format !== queryPlanFormat)
    throw new Error(
      `The plan has the format ${given.format}, and this version of sql-query knows format ${queryPlanFormat}`,
    )
  const plan = given as unknown as QueryPlan
  let known: CompiledQuery | undefined
  return {
    async handle(request: Request, context: Context) {
      const client = context.connection(plan.connection) as Client
      if (typeof client.executeQuery !== 'function')
        throw new Error(`The connection "${plan.connection}" is not a SQL database`)
      const kind = kindOf(client)
      known ??= CompiledQuery.raw(writeStatement(plan, kind))
      const query = { ...known, parameters: plan.values.map((value) => readValue(value, request, context)) }
      let result: QueryResult<unknown>
      try {
        result = await execute(client, query, plan.isReadOnly && kind === 'postgresql')
      } catch (error) {
        throw explain(error, context)
      }
      return makeAnswer(plan, result, context)
    },
  }
}

/** Prepares the statement without running it. Returns the problem that the database reports, if any. */
export async function findStatementProblems({ plan: given, connection }: CheckOptions): Promise<readonly string[]> {
  const plan = given as unknown as QueryPlan
  const client = (await connection(plan.connection)) as Client
  const kind = kindOf(client)
  const text = writeStatement(plan, kind)
  try {
    if (kind === 'sqlite') await client.executeQuery(CompiledQuery.raw(`explain ${text}`))
    else await prepareOnPostgres(client, text)
    return []
  } catch (error) {
    const { code } = error as { readonly code?: string }
    const isStatementError = code === 'ERR_SQLITE_ERROR' || /^(22|42|0A)[0-9A-Z]{3}$/.test(code ?? '')
    if (!isStatementError) throw error
    const [message = ''] = (error as Error).message.split('\n')
    return [message.replaceAll(/\$(\d+)/g, (mark, digits: string) => nameOf(plan.values[Number(digits) - 1]) ?? mark)]
  }
}

/** In a transaction, because a pooler may use another session for the next statement. */
async function prepareOnPostgres(client: Client, text: string): Promise<void> {
  await client.transaction().execute(async (transaction) => {
    await transaction.executeQuery(CompiledQuery.raw(`prepare waypost_check as ${text}`))
    await transaction.executeQuery(CompiledQuery.raw('deallocate waypost_check'))
  })
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
  return `${scan}select * from (\n${statement}\n) as waypost_query limit ${answer === 'row' ? 1 : maxRows + 1}`
}

/** Functions of PostgreSQL can change data; those of SQLite cannot. */
function execute(client: Client, query: CompiledQuery, isReadOnly: boolean): Promise<QueryResult<unknown>> {
  if (!isReadOnly || client.isTransaction) return client.executeQuery(query)
  return client
    .transaction()
    .setAccessMode('read only')
    .execute((transaction) => transaction.executeQuery(query))
}

function readValue(value: QueryValue, request: Request, context: Context): unknown {
  if (!('name' in value))
    return value.from === 'now' ? context.now().toISOString() : (context.principal?.user.id ?? null)
  const values = (request[value.from] ?? {}) as Row
  return (Object.hasOwn(values, value.name) ? values[value.name] : undefined) ?? null
}

function makeAnswer(plan: QueryPlan, { rows, numAffectedRows }: QueryResult<unknown>, context: Context): unknown {
  const { answer, numbers = [] } = plan
  for (const row of rows as readonly Row[]) {
    for (const name of numbers)
      assertExact(row[name], `The column "${name}"`, 'Declare it as "type: [integer, string]" in the response')
  }
  if (answer === 'rows') {
    if (rows.length > maxRows) context.log.warn(`sql-query: the statement returned more than ${maxRows} rows`)
    return rows.length > maxRows ? rows.slice(0, maxRows) : rows
  }
  const isMissing = answer === 'row' ? rows.length === 0 : plan.isAboutExisting && numAffectedRows === 0n
  if (isMissing) throw context.problem(404, 'Not found')
  return rows[0]
}
