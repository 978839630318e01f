// The public API of Waypost: what actions, migrations and plugins import from `waypost`.
export * from './contract/index.ts'
export {
  CompiledQuery,
  sql,
  type DeleteQueryBuilder,
  type Dialect,
  type Expression,
  type ExpressionBuilder,
  type Generated,
  type Insertable,
  type InsertQueryBuilder,
  type JSONColumnType,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
  type Transaction,
  type Updateable,
  type UpdateQueryBuilder,
} from 'kysely'
