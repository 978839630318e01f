import { definePlugin } from 'waypost'
import { postgresql } from './postgresql.ts'
import { sqlQuery } from './query/sql-query.ts'
import { sqlite } from './sqlite.ts'
import { sqlTable } from './table/sql-table.ts'

export default definePlugin({
  name: 'sql',
  requires: '^1.0.0',
  connections: { sqlite, postgresql },
  actions: { 'sql-query': sqlQuery, 'sql-table': sqlTable },
})
