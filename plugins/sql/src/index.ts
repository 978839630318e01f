import { definePlugin } from 'waypost'
import { postgresql } from './postgresql.ts'
import { sqlite } from './sqlite.ts'
import { sqlTable } from './table/sql-table.ts'

export default definePlugin({
  name: 'sql',
  requires: '^1.0.0',
  connections: { sqlite, postgresql },
  actions: { 'sql-table': sqlTable },
})
