import type { FastifyPluginAsync } from 'fastify'
import type { Action, Log, Principal } from './action.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route accepts requests without a token. A valid token still identifies the caller. */
    readonly public?: boolean
    /** The token needs one of these scopes; an empty list accepts any valid token. */
    readonly scopes?: readonly string[]
  }
  interface FastifyRequest {
    /** The caller; undefined on a public route without a valid token. */
    principal: Principal | undefined
  }
}

/** A JSON Schema (2020-12) as data, for example created with TypeBox. `writeOnly: true` marks a secret. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

/** An open connection. A generation holds it, and the next one may reuse it. */
export interface OpenConnection<Client = unknown> {
  /** The result of `context.connection(name)`. */
  readonly client: Client
  /** Checks that the other side responds. Throws if it does not. */
  check(): Promise<void>
  /** Runs work in a transaction; undefined if transactions are not supported. */
  transaction?<Value>(work: (client: Client) => Promise<Value>): Promise<Value>
  /** Closes the connection. Called after the last generation that uses it has closed. */
  close(): Promise<void>
}

/** What `open` of a connection class can use besides the config. */
export interface OpenOptions {
  /** The name of the connection in `waypost.yml`. */
  readonly name: string
  /** The folder of the project or server. Relative paths in the config are relative to it. */
  readonly folder: string
  /** The log for problems of the connection. */
  readonly log: Log
}

/** A type of external system, for use as the `class` of connections. */
export interface ConnectionClass<Config = unknown, Client = unknown> {
  readonly description: string
  /** The JSON Schema of the config. `validate` checks configs against it, and the backend generates a form from it. */
  readonly config: object
  /**
   * The type of the client in `.waypost/types.d.ts`. `{Tables}` is replaced by the type of the connection's
   * `tables.ts`.
   */
  readonly clientType: string
  /**
   * The database kind if the client is a Kysely instance. Connections of the class can then have migrations in
   * `migrations/<Connection>/`.
   */
  readonly migrations?: 'sqlite' | 'postgresql'
  /**
   * Opens the connection. Called with the resolved and validated config when a release starts. Connect on first
   * use instead of here, because an unavailable system must not delay a release.
   */
  open(config: Config, options: OpenOptions): Promise<OpenConnection<Client>>
  /**
   * Returns whether the resource that `open` would create already exists. Called before `open` by commands that must
   * not change anything. If undefined, the resource is assumed to exist.
   */
  isThere?(config: Config, options: Pick<OpenOptions, 'folder'>): boolean
}

/** A configurable action that needs no code in the project: `action: { class: NAME, config: {…} }`. */
export interface ActionClass<Config = unknown> {
  readonly description: string
  /** The JSON Schema of the config. */
  readonly config: object
  /** Returns the action for a config, which is resolved and validated. */
  make(config: Config): Action
}

/** The default export of a plugin package. */
export interface Plugin {
  readonly name: string
  /** The supported range of Waypost versions, for example `^1.0.0`. */
  readonly requires: string
  /** Connection classes by name. Names must be unique across all plugins. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each class has its own config type
  readonly connections?: Readonly<Record<string, ConnectionClass<any, any>>>
  /** Action classes by name. Names must be unique across all plugins. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each class has its own config type
  readonly actions?: Readonly<Record<string, ActionClass<any>>>
  /**
   * The plugin's routes, mounted into each generation. Each declares in its `config` who may call it: `{ scopes }` or
   * `{ public: true }`. Unauthorized requests are rejected before any hook or handler of the plugin runs.
   */
  readonly routes?: FastifyPluginAsync
  readonly hooks?: PluginHooks
}

/** Functions that a server calls on events. Errors are logged and do not stop the server. */
export interface PluginHooks {
  /** Called when the server serves a release. */
  onActivated?(release: { readonly id: string }): void | Promise<void>
  /** Called when the server closes. */
  onClosed?(): void | Promise<void>
}

/** Returns the plugin, with type checking. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin
}
