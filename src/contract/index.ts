// contract: the public types of Waypost, for actions, migrations and plugins.
// May import kit, and types of kysely and fastify. Everything here is public API: breaking changes need a major
// version.
export type {
  Action,
  CallOptions,
  Context,
  DispatchOptions,
  FileOptions,
  Log,
  Principal,
  Request,
  Response,
  Result,
  RouteStep,
  StateOf,
  StepOutcome,
} from './action.ts'
export { isConflict, onClose } from '../kit/index.ts'
export { Decimal, decimal, scaleDecimal, writeDecimal } from './decimal.ts'
export { nameSearchTable, searchColumn, type SearchSnapshot } from './search.ts'
export type { ColumnTypes, DecimalColumn, JsonColumn, Migration } from './migration.ts'
export {
  definePlugin,
  type ActionClass,
  type ActionDescription,
  type ActionHttp,
  type ActionHttpResponse,
  type ActionPlan,
  type ActionUse,
  type CheckOptions,
  type ConfigProblem,
  type ConnectionClass,
  type DatabaseKind,
  type Databases,
  type GuardedFetch,
  type GuardedInit,
  type JsonSchema,
  type MakeOptions,
  type MethodAccess,
  type OpenConnection,
  type OpenOptions,
  type OperationInput,
  type OperationResult,
  type Plugin,
  type PluginHooks,
  type PluginHost,
  type PluginServices,
  type StepClass,
} from './plugin.ts'
export type {
  ColumnSnapshot,
  ColumnType,
  ForeignKeySnapshot,
  TableSnapshot,
  TablesSnapshot,
  TimeForm,
} from './table-snapshot.ts'
export type {
  ActionKey,
  ClientOf,
  ConnectionName,
  Connections,
  CronjobTypes,
  Env,
  EnvValues,
  EventData,
  EventName,
  Events,
  ListenerMessage,
  ListenerName,
  Listeners,
  ListenerTypes,
  RouteKey,
  RouteOf,
  Routes,
  RouteTypes,
} from './registry.ts'
export type { Script, Seed } from './script.ts'
