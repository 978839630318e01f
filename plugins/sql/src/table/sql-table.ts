import type { ActionClass } from 'waypost'
import { tableConfigSchema, type TableConfig } from './config.ts'
import { describeTable } from './describe.ts'

/** A table or view as a REST API. The method and the path decide what happens. */
export const sqlTable: ActionClass<TableConfig> = {
  description: 'A table as a REST API: lists, reads, inserts, changes and deletes rows',
  routesOnly: true,
  config: tableConfigSchema,
  describe: describeTable,
  async check(options) {
    const { findTableProblems } = await import('./check.ts')
    return findTableProblems(options)
  },
  async make(options) {
    const { makeTableAction } = await import('./make.ts')
    return makeTableAction(options)
  },
}
