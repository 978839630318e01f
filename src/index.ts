// The public API of Waypost: what actions, migrations and plugins import from `waypost`.
export * from './contract/index.ts'
export {
  CompiledQuery,
  sql,
  type Dialect,
  type ExpressionBuilder,
  type Generated,
  type Insertable,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  type Selectable,
  type Transaction,
  type Updateable,
} from 'kysely'
