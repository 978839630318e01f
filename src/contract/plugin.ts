import type { FastifyInstance } from 'fastify'
import type { Action, Log, Principal, RouteStep } from './action.ts'
import type { TablesSnapshot } from './table-snapshot.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Anyone may call the route. A valid token only identifies the caller. */
    readonly public?: boolean
    /** The token needs one of these scopes. An empty list accepts any valid token. */
    readonly scopes?: readonly string[]
  }
  interface FastifyRequest {
    /** The caller: set on private routes, and on public routes that were called with a valid token. */
    principal: Principal | undefined
  }
}

/**
 * A JSON Schema (2020-12) as data, for example made with TypeBox. In config schemas of plugins and classes,
 * `writeOnly: true` marks a secret, `variable: true` allows `${env.NAME}` in a config of an action, and
 * `x-waypost: 'table' | 'column' | 'sort' | 'filter' | 'connection' | 'action' | 'event' | 'schema' | 'scope'` says what a string
 * names; `sort` is a column that may begin with `-`, `filter` a column or one of another row, such as `author.name`.
 * `x-waypost-other: 'column' | 'sort' | 'either'` is a column of the table of the action that the same object names, and `either`
 * one of that table or this one.
 */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

/** The databases that Waypost supports. */
export type DatabaseKind = 'sqlite' | 'postgresql'

/**
 * The database of each connection whose client is a Kysely instance, by the name of the connection. That of `System`
 * differs between installations: usually SQLite in development and PostgreSQL on servers.
 */
export type Databases = Readonly<Record<string, DatabaseKind>>

/** An open connection. A generation uses it, and the next generation may keep it. */
export interface OpenConnection<Client = unknown> {
  /** The value that `context.connection(name)` returns. */
  readonly client: Client
  /** Resolves if the remote system responds; otherwise rejects with the reason. */
  check(): Promise<void>
  /** Capability: runs work in one transaction. */
  transaction?<Value>(work: (client: Client) => Promise<Value>): Promise<Value>
  /**
   * Part of the capability `transaction`: runs work of an open transaction so that, if it fails, only what it did is rolled
   * back. Without it, `context.call` that fails within a transaction also fails the transaction.
   * @param client what `transaction` has passed to its work
   */
  savepoint?<Value>(client: Client, work: () => Promise<Value>): Promise<Value>
  /**
   * Capability: adds 1 to the counter of a key, atomically across all servers. The first call starts a window of
   * `windowMs`; at its end the counter restarts at 0. Waypost treats a connection that does not respond within 100 ms as
   * down.
   * @returns the count including this call, and the milliseconds until the window ends
   */
  count?(key: string, windowMs: number): Promise<{ readonly count: number; readonly resetMs: number }>
  close(): Promise<void>
}

/**
 * `fetch` with the outbound rules of this server: no private addresses unless `delivery_allow` or `network` opens them, no
 * redirects, and no proxies. Rejects if no response begins within 30 s. Bodies are streams.
 */
export type GuardedFetch = (input: string | URL, init?: GuardedInit) => Promise<globalThis.Response>

export interface GuardedInit extends RequestInit {
  /** `private` also opens private addresses and loopback, but never the metadata services of cloud platforms. */
  readonly network?: 'public' | 'private'
}

/** What Waypost provides to all code of a plugin. */
export interface PluginServices<Config = unknown> {
  /** The plugin's config in `plugins:`, resolved and validated, with defaults. */
  readonly config: Config
  readonly log: Log
  now(): Date
  readonly fetch: GuardedFetch
}

export interface OpenOptions extends PluginServices {
  /** The connection's name in `waypost.yml`. */
  readonly name: string
  /** The folder of the project or server. Relative paths in the config are relative to it. */
  readonly folder: string
}

/** A kind of remote system. A connection names it as its `class`. */
export interface ConnectionClass<Config = unknown, Client = unknown> {
  readonly description: string
  /** The JSON Schema of the config. `validate` checks it, and the backend builds its form from it. */
  readonly config: object
  /** The type of the client in `.waypost/types.d.ts`, as TypeScript. `{Tables}` is the type in the connection's `tables.ts`. */
  readonly clientType: string
  /** The client is a Kysely instance for this kind of database, so `migrations/<Connection>/` may exist. */
  readonly migrations?: DatabaseKind
  /** The optional capabilities that its open connections have: `transaction`, `count`. */
  readonly capabilities?: readonly ('transaction' | 'count')[]
  /**
   * Opens the connection. Called when a release is activated, with a resolved and validated config. Import drivers here,
   * and connect on first use: a remote system that is down must not delay an activation.
   */
  open(config: Config, options: OpenOptions): Promise<OpenConnection<Client>>
  /**
   * Whether the database that `open` would create exists. Called before `open` by commands that must not change anything.
   * Without this method it is assumed to exist.
   */
  isThere?(config: Config, options: Pick<OpenOptions, 'folder'>): boolean
}

/** The method of a route that uses an action class: the input of `describe`. */
export interface ActionUse {
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  readonly method: string
  /** For example `/todo/:todo_id`. */
  readonly path: string
  /** No token is required. */
  readonly public: boolean
  /** The event that the method dispatches. */
  readonly dispatch?: string
  /**
   * The schemas that the method and its route declare in YAML. They are used as they are, and what is described only
   * completes them, so report a problem if one does not fit. References to named schemas are `schema:///NAME`.
   */
  readonly declared: {
    readonly params?: JsonSchema
    readonly parameters?: JsonSchema
    readonly request?: JsonSchema
    readonly responses: Readonly<Record<string, JsonSchema>>
  }
  /** The named schemas of the project. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** The events of the project, by name. */
  readonly events: Readonly<Record<string, { readonly schema?: JsonSchema }>>
  /** The class of each connection, by the name of the connection. `System` is not included. */
  readonly connections: Readonly<Record<string, string>>
  /** Without `System`, whose database only each installation knows. */
  readonly databases: Databases
  /**
   * The valid configs of all actions of the same class in the project, by name; those without a name by the method that
   * uses them, for example `GET /todo`.
   */
  readonly actions: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The methods that use each of these actions, by the name of the action. One that no method uses is missing. */
  readonly methods: Readonly<Record<string, readonly MethodAccess[]>>
}

/** Who may call a method of a route. */
export interface MethodAccess {
  readonly method: string
  readonly path: string
  /** No token is required. */
  readonly public: boolean
  /** A token needs one of these scopes; an empty list accepts any valid token. */
  readonly scopes: readonly string[]
}

/** A problem in the config of an action, found by `describe`. */
export interface ConfigProblem {
  /** JSON pointer of the value within the config, for example `/columns/2`; empty for the whole config. */
  readonly at: string
  readonly message: string
  readonly hint?: string
  /** A name that does not exist, and those that do. The hint then proposes the nearest, or lists them if they are few. */
  readonly unknown?: { readonly name: string; readonly known: readonly string[] }
  /** `error` by default. */
  readonly severity?: 'error' | 'warning'
}

/**
 * What an action does with one method of a route, as data. The manifest stores it. Schemas that are declared in YAML
 * take precedence.
 */
export interface ActionDescription {
  /** Object schema of the path parameters, for all methods of the route. If the route declares `path`, they match both. */
  readonly params?: JsonSchema
  /** Object schema of the query parameters. */
  readonly parameters?: JsonSchema
  readonly request?: JsonSchema
  /** Schema by status; `{ type: 'null' }` for a status without a body, such as 204. */
  readonly responses?: Readonly<Record<string, JsonSchema>>
  /**
   * Named schemas, to which the others refer as `schema:///NAME`. Types, clients and `/openapi.json` have them by this name.
   * Methods that describe the same name must describe the same schema.
   */
  readonly schemas?: Readonly<Record<string, JsonSchema>>
  /** Other media types of these responses by status, which callers choose by Accept. Without a schema, any text or bytes. */
  readonly responseTypes?: Readonly<Record<string, Readonly<Record<string, { readonly schema?: JsonSchema }>>>>
  /** What `/openapi.json` and clients should know beyond the schemas. It has no effect on requests. */
  readonly http?: ActionHttp
  /** Anything that `make` needs, as JSON. */
  readonly plan?: ActionPlan
  readonly problems?: readonly ConfigProblem[]
}

/** The headers, media types and errors of one method. */
export interface ActionHttp {
  /** The headers of requests that the action reads, for example `{ 'If-Match': 'required' }`. */
  readonly headers?: Readonly<Record<string, 'optional' | 'required'>>
  /** By status; `default` is for all other statuses. */
  readonly responses?: Readonly<Record<string, ActionHttpResponse>>
  /**
   * Sentences by name about what requests do beyond their schemas, for example `{ upsert: 'Changes the row with the same
   * "sku", if it exists.' }`. A changed or removed one is a breaking change.
   */
  readonly behavior?: Readonly<Record<string, string>>
}

export interface ActionHttpResponse {
  /** The media type of a body that is not JSON, `application/problem+json` for errors of `context.problem`. */
  readonly type?: string
  /** The names of headers that it can have, for example `ETag`. */
  readonly headers?: readonly string[]
  readonly description?: string
}

/** JSON that `describe` computes and `make` receives. */
export interface ActionPlan {
  /** The version of the plan's structure. `make` must reject one that it does not know. */
  readonly format: number
  /**
   * The connection in whose transaction the action, the check of its result and its `dispatch:` run. Only on System is
   * the event stored in the transaction.
   */
  readonly transaction?: string
  /** A result that is a list dispatches one event for each of its items. */
  readonly each?: true
  readonly [key: string]: unknown
}

/** A configured action that needs no code in the project: `action: { class: NAME, config: {…} }`. */
export interface ActionClass<Config = unknown> {
  readonly description: string
  /** It needs the method of a route, so cronjobs cannot use it. */
  readonly routesOnly?: true
  /** The JSON Schema of the config. */
  readonly config: object
  /**
   * Describes one method of a route: its parameters, schemas, and a plan for `make`. Pure and synchronous: the same input
   * gives the same result, without I/O. Called when a project is validated or built.
   * @param config with defaults; `${env.NAME}` is still unresolved
   * @param tables by connection
   */
  describe?(config: Config, use: ActionUse, tables: Readonly<Record<string, TablesSnapshot>>): ActionDescription
  /**
   * Checks the plan of one method against the connections that it uses, without changing anything there. Called by `dev`
   * after a reload, and by `deploy` before a release. If it rejects, the check is skipped.
   * @returns what would fail when the method is called
   */
  check?(options: CheckOptions): Promise<readonly string[]>
  /** Creates the action of one method. Import drivers here. */
  make(options: MakeOptions<Config>): Action | Promise<Action>
}

export interface CheckOptions {
  /** The plan that `describe` returned. */
  readonly plan: ActionPlan | undefined
  /** Returns the client of a connection. Rejects if it is unknown, down, or waits for migrations. */
  connection(name: string): Promise<unknown>
  readonly databases: Databases
}

/** A kind of route step. An entry of `steps` names it as its `class`. */
export interface StepClass<Config = unknown> {
  readonly description: string
  /** The JSON Schema of the config. */
  readonly config: object
  /** The type of what `handle` returns, as TypeScript, for `context.state`; `unknown` by default. */
  readonly stateType?: string
  /** Creates the step of one method. Import drivers here. */
  make(options: Omit<MakeOptions<Config>, 'plan'>): RouteStep | Promise<RouteStep>
}

export interface MakeOptions<Config = unknown> {
  /** Resolved and validated, with defaults. */
  readonly config: Config
  /** The plan that `describe` returned. */
  readonly plan: ActionPlan | undefined
  /** The method of a route; undefined for a cronjob. */
  readonly use: { readonly method: string; readonly path: string } | undefined
  /** The databases of the connections that `context.connection` returns. */
  readonly databases: Databases
  readonly host: PluginServices
}

/** What a server provides to a plugin while a generation is active. */
export interface PluginHost<Config = unknown> extends PluginServices<Config> {
  /** The release of the generation. */
  readonly release: { readonly id: string }
  /** The client of a connection of the release. @throws if it is unknown or down */
  connection(name: string): unknown
  readonly databases: Databases
  /**
   * Calls a method of a route of the release as a principal: authorization, validation and rate limits are the same as
   * over HTTP.
   * @param operation for example `GET /todo/:todo_id`
   */
  call(operation: string, input: OperationInput, principal: Principal | undefined): Promise<OperationResult>
}

type Parameter = string | number | boolean

export interface OperationInput {
  readonly params?: Readonly<Record<string, Parameter>>
  /** A list sends its name several times. */
  readonly query?: Readonly<Record<string, Parameter | readonly Parameter[] | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface OperationResult {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON, or text for other content types; undefined if the response has no body. */
  readonly body: unknown
}

/** The default export of a plugin. */
export interface Plugin<Config = unknown> {
  readonly name: string
  /** The range of Waypost versions that it works with, for example `^1.0.0`. Optional for a plugin file of a project. */
  readonly requires?: string
  /** The JSON Schema of its config in `plugins:`. */
  readonly config?: object
  // oxlint-disable-next-line typescript/no-explicit-any -- each class has a config of its own
  readonly connections?: Readonly<Record<string, ConnectionClass<any, any>>>
  // oxlint-disable-next-line typescript/no-explicit-any -- each class has a config of its own
  readonly actions?: Readonly<Record<string, ActionClass<any>>>
  // oxlint-disable-next-line typescript/no-explicit-any -- each class has a config of its own
  readonly steps?: Readonly<Record<string, StepClass<any>>>
  /**
   * Registers the plugin's own routes in each generation, in an encapsulated Fastify context. Each route states in its
   * `config` who may call it: `{ scopes: […] }` or `{ public: true }`. Callers are authorized before any hook or handler
   * of the plugin runs.
   */
  routes?(app: FastifyInstance, host: PluginHost<Config>): void | Promise<void>
  readonly hooks?: PluginHooks<Config>
}

/** Functions that a server calls. A hook that throws, or takes longer than 5 s, is logged; the server continues. */
export interface PluginHooks<Config = unknown> {
  /** The generation serves requests. */
  'generation:ready'?(host: PluginHost<Config>): void | Promise<void>
  /** The generation no longer serves requests. */
  'generation:closed'?(host: PluginHost<Config>): void | Promise<void>
}

/** Declares a plugin. Returns its argument, with types. */
// oxlint-disable-next-line typescript/no-explicit-any -- the config is whatever its schema allows
export function definePlugin<Config = any>(plugin: Plugin<Config>): Plugin<Config> {
  return plugin
}
