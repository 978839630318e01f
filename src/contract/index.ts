// contract: the public types of Waypost, for actions, migrations and plugins.
// May import kit, and types of kysely and fastify. Everything here is public API: breaking changes need a major
// version.
export type { Action, Context, DispatchOptions, Log, Principal, Request, Response, Result } from './action.ts'
export { isConflict } from '../kit/index.ts'
export type { ColumnTypes, Migration } from './migration.ts'
export {
  definePlugin,
  type ActionClass,
  type ConnectionClass,
  type JsonSchema,
  type OpenConnection,
  type OpenOptions,
  type Plugin,
  type PluginHooks,
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
