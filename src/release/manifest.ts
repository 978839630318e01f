import type { ActionClass, ActionHttp, ActionPlan, ConnectionClass, JsonSchema, StepClass } from '../contract/index.ts'
import { type DeclaredVariable, hasReferences, parseSettings, sha256 } from '../kit/index.ts'

/**
 * The content of a release as plain JSON. The same sources give the same text in any folder: it contains neither
 * locations nor the name of the project.
 */
export interface Manifest {
  readonly format: 2
  /** The Waypost version that built it. Older servers reject it. */
  readonly waypost: string
  readonly routes: readonly ManifestRoute[]
  /** The groups of routes that have a description, by path. Methods contain what they inherit. */
  readonly groups?: Readonly<Record<string, { readonly description: string }>>
  /** Folders whose files anyone may read, by the path below which they are. */
  readonly static?: Readonly<Record<string, ManifestStatic>>
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly connections: Readonly<Record<string, ManifestClass>>
  readonly events: Readonly<Record<string, ManifestEvent>>
  readonly scopes: Readonly<Record<string, { readonly description?: string }>>
  /** Undefined if there are none, as in releases of versions without listeners. */
  readonly listeners?: Readonly<Record<string, ManifestListener>>
  readonly cronjobs: Readonly<Record<string, ManifestCronjob>>
  readonly rates: Readonly<
    Record<
      string,
      {
        readonly limit: number
        readonly windowMs: number
        readonly by: 'principal' | 'address'
        /** The connection that counts the requests to all servers. */
        readonly connection?: string
      }
    >
  >
  readonly config: Readonly<Record<string, unknown>>
  readonly plugins: readonly ManifestPlugin[]
  readonly variables: Readonly<Record<string, ManifestVariable>>
  /** All migrations of the project, by connection, then by name. */
  readonly migrations: readonly ManifestMigration[]
  /** All artifacts of the release, including shared chunks: SHA-256 → size in bytes. */
  readonly artifacts: Readonly<Record<string, number>>
}

export interface ManifestStatic {
  /** The folder of the project. */
  readonly folder: string
  readonly maxAgeMs?: number
  /** The file that browsers get for paths that do not exist. */
  readonly fallback?: string
  /** The artifact of each file, by its path in the folder. */
  readonly files: Readonly<Record<string, string>>
}

export interface ManifestRoute {
  readonly path: string
  readonly deprecated?: string | true
  readonly methods: readonly ManifestMethod[]
}

export interface ManifestMethod {
  readonly method: string
  readonly public: boolean
  readonly summary?: string
  readonly description?: string
  /** The headings of /docs; by default derived from the path. */
  readonly tags?: readonly string[]
  readonly operationId?: string
  readonly scopes: readonly string[]
  readonly params?: JsonSchema
  readonly query?: JsonSchema
  /** Schema of a JSON body. */
  readonly request?: JsonSchema
  /** Set if the media types of the body are listed. The schema of JSON is in `request` too. */
  readonly requestTypes?: Readonly<Record<string, ManifestMediaType>>
  /** Schema of the JSON by status. A status without JSON is only in `responseTypes`. */
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly responseTypes?: Readonly<Record<string, Readonly<Record<string, ManifestMediaType>>>>
  /** Set if the action gets the bytes of the body too. */
  readonly raw?: true
  /** Maximum size of the body in bytes, instead of the setting `body_limit`. */
  readonly bodyLimit?: number
  /** What its action class describes beyond the schemas. */
  readonly http?: ActionHttp
  readonly action: ManifestAction
  readonly dispatch?: string
  /** The properties of the result that the event has; undefined for the whole result. */
  readonly dispatchData?: readonly string[]
  /** Run in this order before the action. */
  readonly steps?: readonly ManifestStep[]
  /** Steps of groups or of the route that do not run. */
  readonly without?: readonly string[]
  readonly timeoutMs?: number
  readonly rate?: string
  readonly html?: 'trusted'
  /** How long responses may be kept, in whole seconds; 0 means that caches ask each time. Only GET has it. */
  readonly cache?: { readonly maxAgeMs: number; readonly public?: true }
  /** Set if responses are never compressed. */
  readonly compression?: false
}

/** A media type of a body; without a schema, bytes. Of event streams and JSON lines, it is the schema of one item. */
export interface ManifestMediaType {
  readonly schema?: JsonSchema
}

/** Code that runs before the action of a method. */
export interface ManifestStep {
  /** Its result is `context.state.NAME`. */
  readonly name: string
  readonly action: ManifestAction
}

/** The code of an action: an artifact whose default export is its class, or a class of a plugin. */
export type ManifestAction =
  | { readonly artifact: string; readonly file: string }
  | (ManifestClass & {
      /** The plan that the class computed from its config at build time. */
      readonly plan?: ActionPlan
    })

export interface ManifestClass {
  readonly class: string
  readonly config: Readonly<Record<string, unknown>>
}

/** A plugin of a release: an artifact, or a package that is installed on each server. */
export type ManifestPlugin = (
  | { readonly artifact: string; readonly version?: string }
  | { readonly host: true; readonly version: string }
) & {
  /** As listed in `plugins:`, for example `@example/geo` or `./plugins/geo.ts`. */
  readonly from: string
  readonly config: Readonly<Record<string, unknown>>
  readonly catalog: ManifestCatalog
}

/** A plugin as data, so that a server can check a deployment without running code. */
export interface ManifestCatalog {
  /** The plugin's own name. */
  readonly name: string
  /** The schema of its config. */
  readonly config?: JsonSchema
  readonly connections: Readonly<Record<string, ManifestConnectionClass>>
  readonly actions: Readonly<
    Record<string, Pick<ActionClass, 'description' | 'routesOnly'> & { readonly config: JsonSchema }>
  >
  /** Undefined if there are none, as in releases of versions without them. */
  readonly steps?: Readonly<
    Record<string, Pick<StepClass, 'description' | 'stateType'> & { readonly config: JsonSchema }>
  >
  /** Whether the plugin registers routes. */
  readonly routes?: true
}

export interface ManifestConnectionClass extends Pick<
  ConnectionClass,
  'description' | 'clientType' | 'migrations' | 'capabilities'
> {
  readonly config: JsonSchema
}

export interface ManifestEvent {
  readonly description?: string
  readonly schema?: JsonSchema
  readonly scopes?: readonly string[]
  /** Set if only listeners receive it. */
  readonly private?: true
}

/** An action that handles the messages of an event. Times are in milliseconds. */
export interface ManifestListener {
  readonly event: string
  readonly description?: string
  readonly action: ManifestAction
  readonly timeoutMs?: number
  readonly retries?: readonly number[]
  readonly concurrency?: number
  readonly exclusive?: true | string
  readonly starts?: { readonly limit: number; readonly windowMs: number }
  readonly once?: true
}

export interface ManifestCronjob {
  readonly schedule: string
  readonly timezone?: string
  /** A duration. Like `schedule` and `timezone`, it may contain variables. */
  readonly timeout?: string
  readonly action: ManifestAction
}

export interface ManifestVariable {
  /** Whether each use has a default. */
  readonly optional: boolean
  /** Actions read it as `context.env.NAME`. Each server reads its value when it starts the release. */
  readonly declared?: DeclaredVariable
}

export interface ManifestMigration {
  readonly connection: string
  /** The file name without its extension, for example `20261120-create-app-todo`. */
  readonly name: string
  /** The SHA-256 of the source file. */
  readonly checksum: string
  /**
   * What a migration in code does: a hash of its compiled form with what it imports from the project, after the beginning of
   * that of the compiler's version. An applied migration with another code, or if that cannot be compared with another
   * checksum, was edited.
   */
  readonly code?: string
  readonly artifact: string
  /** Set if it runs outside a transaction. Of a migration in code, this is only shown: its code decides. */
  readonly outside?: true
  /** Set if the migration is declared in YAML. */
  readonly declared?: {
    /** The steps that break code which uses the tables before them. */
    readonly breaking?: readonly string[]
    /** The steps that block a large table for a while. */
    readonly rewrites?: readonly string[]
  }
}

/** A file of a release: bundled code, named by the SHA-256 of its content. */
export interface Artifact {
  readonly hash: string
  readonly content: string
}

/** A release that is built but not stored yet. */
export interface BuiltRelease {
  readonly manifest: Manifest
  readonly artifacts: readonly Artifact[]
}

/**
 * Returns the text of a manifest, which is stored and hashed. Keys keep their order, which `build` makes deterministic.
 */
export function writeManifest(manifest: Manifest): string {
  return JSON.stringify(manifest)
}

/** Format 1 also had the name of the project, which was the default title, and the location of each method. */
interface ManifestFormat1 extends Omit<Manifest, 'format' | 'routes'> {
  readonly format: 1
  readonly name: string
  readonly routes: readonly (Omit<ManifestRoute, 'methods'> & {
    readonly methods: readonly (ManifestMethod & { readonly source: string })[]
  })[]
}

/** Parses the text of a stored manifest. */
export function parseManifest(text: string): Manifest {
  return upgradeManifest(JSON.parse(text) as Manifest | ManifestFormat1)
}

/**
 * Converts a manifest that an earlier version stored to the current format, so that it serves what it served before.
 * The id of its release stays the hash of the stored text.
 */
export function upgradeManifest(stored: Manifest | ManifestFormat1): Manifest {
  if (stored.format !== 1) return stored
  const { name, format: _, waypost, routes, config, ...rest } = stored
  return {
    format: 2,
    waypost,
    ...rest,
    routes: routes.map((route) => ({
      ...route,
      methods: route.methods.map(({ source: _source, ...method }) => method),
    })),
    config: 'title' in config || !isTitle(name) ? config : { ...config, title: name },
  }
}

function isTitle(name: string): boolean {
  return !hasReferences(name) && parseSettings({ title: name }).problems.length === 0
}

/** Returns the code that a release runs for requests, listeners and cronjobs: actions and steps. */
export function listActions({
  routes,
  listeners = {},
  cronjobs,
}: Pick<Manifest, 'routes' | 'listeners' | 'cronjobs'>): readonly ManifestAction[] {
  return [
    ...routes.flatMap(({ methods }) =>
      methods.flatMap(({ action, steps = [] }) => [action, ...steps.map((step) => step.action)]),
    ),
    ...Object.values(listeners).map(({ action }) => action),
    ...Object.values(cronjobs).map(({ action }) => action),
  ]
}

/** Returns the hashes of the files of static folders. */
export function listStaticFiles({ static: folders = {} }: Pick<Manifest, 'static'>): readonly string[] {
  return Object.values(folders).flatMap(({ files }) => Object.values(files))
}

/** Returns the id of a release: the SHA-256 of its manifest's text. */
export function releaseId(manifest: Manifest): string {
  return sha256(writeManifest(manifest))
}

/** Returns the scopes that callers need for some private method or subscription. */
export function neededScopes({ routes, events }: Manifest): readonly string[] {
  const methods = routes.flatMap((route) => route.methods).filter((method) => !method.public)
  const named = [...methods, ...Object.values(events)].flatMap(({ scopes }) => scopes ?? [])
  return [...new Set(named)].toSorted()
}

/** Returns the variables that must be set to serve a release. */
export function requiredVariables({ variables }: Pick<Manifest, 'variables'>): readonly string[] {
  return Object.entries(variables).flatMap(([name, { optional }]) => (optional ? [] : [name]))
}
