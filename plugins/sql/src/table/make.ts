import type { Action, Context, DatabaseKind, Databases, MakeOptions } from 'waypost'
import { makeChangeHandler } from './change-row.ts'
import type { TableConfig } from './config.ts'
import { makeInsertHandler } from './insert-handler.ts'
import { kindOf } from './kind-of.ts'
import { makeListHandler } from './list.ts'
import { planFormat, type TablePlan } from './plan.ts'
import { makeReadHandler } from './read-row.ts'
import type { Handler } from './run.ts'

/** Creates the action of one method from its plan. */
export function makeTableAction({ plan, use, databases }: MakeOptions<TableConfig>): Action {
  if (plan === undefined || use === undefined) throw new Error('The class sql-table can only be used by routes')
  if (plan.format !== planFormat)
    throw new Error(
      `The plan has the format ${plan.format}, but this version of sql-table supports format ${planFormat}`,
    )
  const table = plan as TablePlan
  let known: Handler | undefined
  // Made by the first request: only the client of a replaced connection tells what database it is.
  const handle: Handler = async (request, context) => {
    known ??= makeHandler(table, findKind(table.connection, databases, context), use.path)
    return known(request, context)
  }
  return { handle: handle as Action['handle'] }
}

function findKind(connection: string, databases: Databases, context: Context): DatabaseKind {
  const kind = databases[connection] ?? kindOf(context.connection(connection as never))
  if (kind === undefined) throw new Error(`The connection "${connection}" is not a SQL database`)
  return kind
}

function makeHandler(plan: TablePlan, kind: DatabaseKind, path: string): Handler {
  switch (plan.operation) {
    case 'list':
      return makeListHandler(plan, kind, path)
    case 'insert':
      return makeInsertHandler(plan, kind, path)
    case 'read':
      return makeReadHandler(plan, kind)
    default:
      return makeChangeHandler(plan, kind)
  }
}
