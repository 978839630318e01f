import type { Context } from 'waypost'
import type { TablePlan } from './plan.ts'
import type { Access } from './row-conditions.ts'
import type { Row, TableDatabase } from './run.ts'
import type { Input } from './statement-values.ts'
import { isTrue, triggerAlias } from './statements.ts'

/** How long a table is taken to have no triggers. */
const withoutTriggersMs = 60_000

/**
 * Returns a function that is called before a change. It returns the one that then returns the row as it is after triggers:
 * what a statement returns does not have their changes, for example of the time and the version of the row.
 */
export function makeReadAgain(plan: TablePlan) {
  const { identity = [] } = plan
  const asReturned = async (row: Row) => row
  let withoutUntil = -Infinity
  let hasTriggers = false
  return async (database: TableDatabase, input: Input, context: Context) => {
    const now = context.now().getTime()
    if (identity.length === 0 || (!hasTriggers && now < withoutUntil)) return asReturned
    if (!hasTriggers) {
      const [found] = await database.run('triggers', (writer) => writer.findTriggers(), input)
      hasTriggers = isTrue(found![triggerAlias])
      withoutUntil = now + withoutTriggersMs
    }
    if (!hasTriggers) return asReturned
    return async (row: Row, access: Access): Promise<Row> => {
      const own = Object.fromEntries(identity.map((name) => [name, row[name]]))
      const reading = database.run(`again ${access.join()}`, (writer) => writer.readAgain(access), {
        ...input,
        identity: own,
      })
      const [stored] = await reading.catch((error: unknown) => {
        if (database.isTransaction) throw error // nothing is committed
        context.log.error({ err: error, table: plan.table }, 'sql-table: a changed row cannot be read again')
        return []
      })
      return stored ?? row
    }
  }
}
