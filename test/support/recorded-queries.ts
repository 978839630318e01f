import { CompiledQuery, Kysely, type Dialect } from 'kysely'
import { readInIndexOrder, type System, type SystemTables } from '../../src/store/index.ts'

export interface Recorded extends Pick<CompiledQuery, 'sql' | 'parameters'> {
  /** Whether it ran in `readInIndexOrder`. */
  readonly isInIndexOrder: boolean
}

/** Returns a dialect that reports the queries of its connections. */
function recordDialect(
  made: Dialect,
  onQuery: (query: Pick<CompiledQuery, 'sql' | 'parameters'>, connection: object) => void,
): Dialect {
  return {
    createAdapter: () => made.createAdapter(),
    createIntrospector: (db) => made.createIntrospector(db),
    createQueryCompiler: () => made.createQueryCompiler(),
    createDriver() {
      const driver = made.createDriver()
      const acquire = driver.acquireConnection.bind(driver)
      const release = driver.releaseConnection.bind(driver)
      driver.acquireConnection = async (...options) => {
        const connection = await acquire(...options)
        const execute = connection.executeQuery.bind(connection)
        const use = {}
        connection.executeQuery = async (query, ...more) => {
          onQuery(query, use)
          return execute(query, ...more)
        }
        return connection
      }
      driver.releaseConnection = (connection) => {
        delete (connection as Partial<typeof connection>).executeQuery // pooled: each use records anew
        return release(connection)
      }
      return driver
    },
  }
}

/** Returns a database whose Kysely clients report their statements that read and write rows. */
export function reportQueries<Database extends { dialect(): Dialect }>(
  database: Database,
  onQuery: (query: Pick<CompiledQuery, 'sql' | 'parameters'>) => void,
): Database {
  const isRows = /^(\/\*.*?\*\/\s*)*(select|with|insert|update|delete)\b/i
  const report = (query: Pick<CompiledQuery, 'sql' | 'parameters'>) => isRows.test(query.sql) && onQuery(query)
  return { ...database, dialect: () => recordDialect(database.dialect(), report) }
}

/** Returns a System that records its queries, those of MikroORM too. */
export function recordQueries(given: System): { system: System; queries: Recorded[] } {
  const queries: Recorded[] = []
  const { database } = given
  const inIndexOrder = new WeakSet<object>()
  const dialect = () =>
    recordDialect(database.dialect(), (query, use) => {
      if (query.sql.startsWith('begin read only')) inIndexOrder.add(use)
      if (/^\s*(select|with)/i.test(query.sql)) queries.push({ ...query, isInIndexOrder: inIndexOrder.has(use) })
    })
  const db = new Kysely<SystemTables>({ dialect: dialect() })
  const system = { ...given, db, database: { ...database, dialect } } as unknown as System
  return { system, queries }
}

export interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

/** Runs a query again on PostgreSQL, as it ran. */
export async function explainQuery(system: System, { sql: text, parameters, isInIndexOrder }: Recorded): Promise<Plan> {
  type Line = { 'QUERY PLAN': readonly { readonly Plan: Plan }[] }
  const query = CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters])
  const run = (db: System['db']) => db.executeQuery<Line>(query)
  const { rows } = await (isInIndexOrder ? readInIndexOrder(system, run) : run(system.db))
  return rows[0]!['QUERY PLAN'][0]!.Plan
}

/** Returns how many pages of the database a query touched. */
export function pagesOf(plan: Plan): number {
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}
