// runtime: turns a release into a generation. The gateway swaps generations without dropping a request. Authorization,
// validation, serialisation, error bodies, OpenAPI. May import kit, contract, schema, plugin, release, connection, auth
// and events.
export type { ContextSources } from './action-context.ts'
export {
  type RequestExchange,
  type RequestReport,
  type Endpoint,
  type Generation,
  type GenerationOptions,
  type Logger,
  buildGeneration,
} from './generation.ts'
export { makeReleaseCalls, type ReleaseCallsOptions } from './calls/release-calls.ts'
export { describeBuiltIn } from './built-in/describe.ts'
export { mountBuiltIn } from './built-in/mount.ts'
export type { BuiltInRoute, RouteInput } from './built-in/route.ts'
export { findJsonProblem } from './json-body.ts'
export { releasePath, removeAbandonedFiles, reservePath } from './bodies/upload-folder.ts'
export { makeDataCheck } from './check-dispatched.ts'
export { makeActions } from './find-action.ts'
export { loadMethodCode, methodsOf, type CodeSources, type MethodAt } from './load-code.ts'
export { mountDocs, type DocsSources } from './docs/mount-docs.ts'
export { mountHealth, type CheckReadiness } from './health.ts'
export { mountMetrics } from './metrics.ts'
export { assertCanListen, type Address } from './listen.ts'
export type { ConnectionLimits } from './connections.ts'
export { openGateway, type Gateway } from './gateway.ts'
export { makePageProtection } from './protect-pages.ts'
export { queryOf, type StartPage } from './lead-to-page.ts'
export { mountPortal } from './ui/mount-portal.ts'
export { mountUi, type UiConfig } from './ui/mount-ui.ts'
export { openOpsServer, type OpsServer } from './ops-server.ts'
export { OpenStreams } from './media/open-streams.ts'
export type { Tracing } from './tracing.ts'
export { watchPressure, watchStalls, type Pressure, type PressureLimits, type StallWatch } from './pressure.ts'
export {
  listPluginRoutes,
  mountPluginRoutes,
  runPluginHooks,
  type HostedPlugin,
  type PluginRoute,
} from './plugin-routes.ts'
export {
  callInTransaction,
  findRowProblem,
  makeCallable,
  type CallableMethod,
  type MethodCaller,
  type MethodInput,
} from './call-method.ts'
export { runCronjob } from './run-cronjob.ts'
export { RunDiscarded, RunPostponed } from './run-errors.ts'
export { runListener, type ListenerRun } from './run-listener.ts'
export { RouteStatistics, type RouteCount } from './route-statistics.ts'
export { makeRateCounters, type RateCounters } from './rate-counters.ts'
export { hasSameCode } from './mount-routes.ts'
export { loadSecurityHeaders, type SecurityHeaders } from './security-headers.ts'
export { makeSchemaCache, type SchemaCache } from './schema-cache.ts'
export { makeOpenApi, type OpenApi, type OpenApiOptions } from './openapi/make-open-api.ts'
export { makeProblemBody, problemTypeOf } from './problem.ts'
