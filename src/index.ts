// The public API of Waypost: what actions, migrations and plugins import from `waypost`.
export * from './contract/index.ts'
export type { Generated, Kysely } from 'kysely'
