// contract: the public types of Waypost, for actions, migrations and plugins.
// May import kit, and types of kysely and fastify. Everything here is public API: breaking changes need a major
// version.
export type { Action, Context, DispatchOptions, FileOptions, Log, Principal, Request, Response, Result } from './action.ts'
export { isConflict, onClose } from '../kit/index.ts'
export type { ColumnTypes, Migration } from './migration.ts'
export {
  definePlugin,
  type ActionClass,
  type ActionDescription,
  type ActionHttp,
  type ActionHttpResponse,
  type ActionPlan,
  type ActionUse,
  type CheckOptions,
  type ColumnSnapshot,
  type TimeForm,
  type ColumnType,
  type ConfigProblem,
  type ConnectionClass,
  type DatabaseKind,
  type Databases,
  type ForeignKeySnapshot,
  type GuardedFetch,
  type GuardedInit,
  type JsonSchema,
  type MakeOptions,
  type OpenConnection,
  type OpenOptions,
  type OperationInput,
  type OperationResult,
  type Plugin,
  type PluginHooks,
  type PluginHost,
  type PluginServices,
  type TableSnapshot,
  type TablesSnapshot,
} from './plugin.ts'
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
  RouteKey,
  RouteOf,
  Routes,
  RouteTypes,
} from './registry.ts'
