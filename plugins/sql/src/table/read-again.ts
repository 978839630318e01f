import type { Context, DatabaseKind } from 'waypost'
import { makeRowsWriter } from './bulk-rows.ts'
import type { TablePlan } from './plan.ts'
import type { Access } from './row-conditions.ts'
import type { Row, TableDatabase } from './run.ts'
import type { Input } from './statement-values.ts'
import { isTrue, triggerAlias } from './statements.ts'

/** How long a table is taken to have no triggers. */
const withoutTriggersMs = 60_000

/** Returns rows as they are after triggers. */
export type ReadAgain = (rows: readonly Row[], access: Access) => Promise<readonly Row[]>

/**
 * Returns a function that is called before a change. It returns the one that then returns the rows as they are after
 * triggers: what a statement returns does not have their changes, for example of the time and the version of the row.
 */
export function makeReadAgain(plan: TablePlan, kind: DatabaseKind) {
  const { identity = [] } = plan
  const asReturned: ReadAgain = async (rows) => rows
  const writeRows = makeRowsWriter(plan, { kind, use: 'compare' })
  const keyOf = (row: Row) => JSON.stringify(identity.map((name) => row[name]))
  let withoutUntil = -Infinity
  let hasTriggers = false
  return async (database: TableDatabase, input: Input, context: Context): Promise<ReadAgain> => {
    const now = context.now().getTime()
    if (identity.length === 0 || (!hasTriggers && now < withoutUntil)) return asReturned
    if (!hasTriggers) {
      const [found] = await database.run('triggers', (writer) => writer.findTriggers(), input)
      hasTriggers = isTrue(found![triggerAlias])
      withoutUntil = now + withoutTriggersMs
    }
    if (!hasTriggers) return asReturned
    return async (rows, access) => {
      const [first, ...others] = rows
      if (first === undefined) return rows
      const reading =
        others.length === 0
          ? database.run(`again ${access.join()}`, (writer) => writer.readAgain(access), { ...input, identity: first })
          : database.run(`rows again ${access.join()}`, (writer) => writer.readRowsAgain(access), {
              ...input,
              list: { texts: writeRows(rows, identity), length: rows.length },
            })
      const stored = await reading.catch((error: unknown) => {
        if (database.isTransaction) throw error // nothing is committed
        context.log.error({ err: error, table: plan.table }, 'sql-table: changed rows cannot be read again')
        return []
      })
      if (others.length === 0) return stored.length === 0 ? rows : stored
      const byKey = new Map(stored.map((row) => [keyOf(row), row]))
      return rows.map((row) => byKey.get(keyOf(row)) ?? row)
    }
  }
}
