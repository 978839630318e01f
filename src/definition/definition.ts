import type { ActionHttp, ActionPlan, JsonSchema } from '../contract/index.ts'
import type { DeclaredVariable } from '../kit/index.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A location: `file` relative to the project's root, line and column from 1. */
export interface Location {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The YAML of a project: parsed, included and checked. Maps keep the order of the files. */
export interface Definition {
  readonly routes: readonly Route[]
  /** The groups of routes that have a description, by path. */
  readonly groups?: Readonly<Record<string, GroupDefinition>>
  /** Folders whose files are served as they are, by the path below which they are. */
  readonly static?: Readonly<Record<string, StaticFolder>>
  /**
   * Named schemas, all JSON Schema 2020-12. A reference to one is `{ $ref: 'schema:///NAME' }`. A file that a relative
   * `$ref` reaches is one of them, named after its path.
   */
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly connections: Readonly<Record<string, ClassUse>>
  readonly events: Readonly<Record<string, EventDefinition>>
  /** All scopes that occur anywhere, with their description from `scope:` if given. */
  readonly scopes: Readonly<Record<string, { readonly description?: string }>>
  readonly listeners: Readonly<Record<string, Listener>>
  readonly cronjobs: Readonly<Record<string, Cronjob>>
  readonly rates: Readonly<Record<string, Rate>>
  /** Settings as written. Values may contain `${env.NAME}`. */
  readonly config: Readonly<Record<string, unknown>>
  readonly plugins: readonly PluginUse[]
  /** The variables in `${env.NAME}` and in `env:`. */
  readonly variables: Readonly<Record<string, VariableUse>>
}

/** A folder of the project whose files anyone may read. */
export interface StaticFolder {
  /** Relative to the root. */
  readonly folder: string
  readonly maxAgeMs?: number
  /** The file of the folder that browsers get for paths that do not exist. */
  readonly fallback?: string
  readonly at: Location
}

export interface GroupDefinition {
  readonly description: string
}

export interface Route {
  /** Path with colon-prefixed parameters, for example `/todo/:todo_id`. */
  readonly path: string
  readonly methods: readonly Method[]
  /** ISO date since which the route is deprecated; true without a date. */
  readonly deprecated?: string | true
  readonly at: Location
}

export interface Method {
  readonly method: HttpMethod
  readonly public: boolean
  /** A title in one line. */
  readonly summary?: string
  readonly description?: string
  /** By default the paths of the groups around it, the innermost first. */
  readonly tags?: readonly string[]
  /** Name of the operation for generated clients. */
  readonly operationId?: string
  /** A token needs one of these scopes; an empty list accepts any valid token. Public methods may have scopes too. */
  readonly scopes: readonly string[]
  /** Object schema of the path parameters. */
  readonly params?: JsonSchema
  /** Object schema of the query parameters. */
  readonly query?: JsonSchema
  /** Schema of a JSON body. */
  readonly request?: JsonSchema
  /** Set if `content` lists the media types of the body. The schema of JSON is in `request` too. */
  readonly requestTypes?: Readonly<Record<string, MediaType>>
  /**
   * Schema of the JSON by status, in ascending order; at the end `4XX`, `5XX` and `default`. A status whose `content` has
   * no JSON is only in `responseTypes`.
   */
  readonly responses: Readonly<Record<string, JsonSchema>>
  /** The media types of the statuses with `content`. The schema of JSON is in `responses` too. */
  readonly responseTypes?: Readonly<Record<string, Readonly<Record<string, MediaType>>>>
  /** Set if the action gets the bytes of the body too. */
  readonly raw?: true
  /** Maximum size of the body in bytes, instead of the setting of this name. */
  readonly bodyLimit?: number
  /** What its action class describes beyond the schemas. */
  readonly http?: ActionHttp
  readonly action: ActionUse
  /** Event to which a 2xx result is dispatched. */
  readonly dispatch?: string
  /** The properties of the result that the event has; undefined for the whole result. */
  readonly dispatchData?: readonly string[]
  /** Run in this order before the action. */
  readonly steps?: readonly RouteStep[]
  /** Steps of groups or of the route that do not run. */
  readonly without?: readonly string[]
  readonly timeoutMs?: number
  readonly rate?: string
  readonly html?: 'trusted'
  /** How long responses may be kept, in whole seconds; 0 means that caches ask each time. */
  readonly cache?: { readonly maxAgeMs: number; readonly public?: true }
  /** Set if responses are never compressed. */
  readonly compression?: false
  readonly at: Location
}

/**
 * One media type of a body; without a schema, bytes. The schema of `text/event-stream` and `application/jsonl` is that of
 * one item. Properties of a `multipart/form-data` schema, and the items of its arrays, may be files:
 * `{ type: 'file', maxSize: BYTES, types: [TYPE] }`.
 */
export interface MediaType {
  readonly schema?: JsonSchema
}

/** Code that runs before the action of a method. Its result is `context.state.NAME`. */
export interface RouteStep {
  readonly name: string
  readonly action: ActionUse
}

export type ActionUse = { readonly file: string; readonly at: Location } | ClassUse

/** A configured plugin class. */
export interface ClassUse {
  readonly class: string
  readonly config: Readonly<Record<string, unknown>>
  /** Of an action: the plan that its class described. */
  readonly plan?: ActionPlan
  readonly at: Location
}

export interface EventDefinition {
  readonly description?: string
  readonly schema?: JsonSchema
  /** The subscriber needs one of these scopes. Undefined allows all users who may subscribe. */
  readonly scopes?: readonly string[]
  /** Set if only listeners receive it. */
  readonly private?: true
}

/** An action that handles the messages of an event. */
export interface Listener {
  readonly event: string
  readonly description?: string
  readonly action: ActionUse
  readonly timeoutMs?: number
  /** Delays before retries, in milliseconds. */
  readonly retries?: readonly number[]
  /** Runs at the same time in each worker. */
  readonly concurrency?: number
  /** Whether one run at a time is allowed; with a path such as `data.customer_id`, one for each value. */
  readonly exclusive?: true | string
  /** How many runs may start in a window, of all workers together. */
  readonly starts?: { readonly limit: number; readonly windowMs: number }
  /** Set if a run is one transaction of System with the record that it succeeded. */
  readonly once?: true
}

export interface Cronjob {
  /** Five fields, as in crontab. */
  readonly schedule: string
  readonly timezone?: string
  /** A duration after which the run has failed. */
  readonly timeout?: string
  readonly action: ActionUse
}

export interface Rate {
  readonly limit: number
  readonly windowMs: number
  readonly by: 'principal' | 'address'
  /** The connection that counts the requests to all servers. Without it, each server counts its own. */
  readonly connection?: string
}

export interface VariableUse {
  /** Whether each use has a default. */
  readonly optional: boolean
  /** The declaration in `env:`. Actions can only read declared variables. */
  readonly declared?: DeclaredVariable
}

export interface PluginUse {
  /** An npm package, or a file of the project as `./plugins/geo.ts`. */
  readonly name: string
  /** The package is installed on every server instead of being part of the release. */
  readonly host?: true
  readonly config: Readonly<Record<string, unknown>>
  readonly at: Location
}
