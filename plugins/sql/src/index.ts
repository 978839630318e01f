import { definePlugin } from 'waypost'
import { postgresql } from './postgresql.ts'
import { sqlite } from './sqlite.ts'

export default definePlugin({ name: 'sql', requires: '^1.0.0', connections: { sqlite, postgresql } })
