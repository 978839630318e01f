// The published face of Waypost: what a project's actions, migrations and plugins import as `waypost`.
export * from './contract/index.ts'
export type { Generated, Kysely } from 'kysely'
