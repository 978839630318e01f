// runtime: a release becomes a generation; the listener swaps generations without dropping a request; the guard's place,
// validation, serialisation, error bodies. May import kit, contract, release, connection, and the faces of auth and events.
export type { Answered, Endpoint, Generation, GenerationOptions, Logger } from './generation.ts'
export { makeActionFinder } from './find-action.ts'
export { buildGeneration } from './generation.ts'
export { mountDocs, type DocsSources } from './docs/mount-docs.ts'
export { mountHealth } from './health.ts'
export { openListener, type Listener } from './listener.ts'
export { artifactLoader, importArtifact, registerArtifacts, resolveStack } from './load-artifacts.ts'
export { makeRateCounters, type RateCounters } from './rate-counters.ts'
export type { RouteSources } from './mount-routes.ts'
export { loadSecurityHeaders, type SecurityHeaders } from './security-headers.ts'
export { makeSchemaCache, type SchemaCache } from './schema-cache.ts'
export { makeOpenApi, type OpenApi, type OpenApiOptions } from './openapi/make-open-api.ts'
