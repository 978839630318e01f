import type { FastifyPluginAsync } from 'fastify'
import type { Action, Log, Principal } from './action.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Everybody may call the route; a valid token only tells who it is. */
    readonly public?: boolean
    /** Scopes of which a token has to carry one to call the route; with none named, any valid token does. */
    readonly scopes?: readonly string[]
  }
  interface FastifyRequest {
    /** Who calls: on a private route, and on a public one that was called with a valid token. */
    principal: Principal | undefined
  }
}

/** A JSON Schema (2020-12) as data, for example made with TypeBox. `writeOnly: true` marks a secret. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

/** A connection that was opened: what a generation holds and the next one may keep. */
export interface OpenConnection<Client = unknown> {
  /** What actions get from `context.connection(name)`. */
  readonly client: Client
  /** Proves that the other side answers; throws what is wrong. */
  check(): Promise<void>
  /** Runs work in one transaction; absent where the other side has none. */
  transaction?<Value>(work: (client: Client) => Promise<Value>): Promise<Value>
  close(): Promise<void>
}

export interface OpenOptions {
  /** The connection's name in `waypost.yml`. */
  readonly name: string
  /** The folder of the project or server, from which a relative path in the config is meant. */
  readonly folder: string
  readonly log: Log
}

/** A kind of outside system that a connection can name as its `class`. */
export interface ConnectionClass<Config = unknown, Client = unknown> {
  readonly description: string
  /** A JSON Schema as data; checked by `validate`, and the backend draws its form from it. */
  readonly config: object
  /** How `.waypost/types.d.ts` writes the client's type. `{Tables}` stands for the connection's `tables.ts`. */
  readonly clientType: string
  /** The client is a Kysely instance for this kind of database, so that `migrations/<Connection>/` may stand for it. */
  readonly migrations?: 'sqlite' | 'postgresql'
  /**
   * Opens the connection; called when a release is brought up, with the config resolved and checked. Reach out at the
   * first use, not here: a connection that is down must not keep a release waiting.
   */
  open(config: Config, options: OpenOptions): Promise<OpenConnection<Client>>
  /**
   * Whether that is there which `open` makes where there is none. Asked before `open` by what promises to change
   * nothing; without it everything is there.
   */
  isThere?(config: Config, options: Pick<OpenOptions, 'folder'>): boolean
}

/** A configured action that needs no code in the project: `action: { class: NAME, config: {…} }`. */
export interface ActionClass<Config = unknown> {
  readonly description: string
  /** A JSON Schema as data. */
  readonly config: object
  make(config: Config): Action
}

/** What the default export of a plugin's package says. */
export interface Plugin {
  readonly name: string
  /** The range of Waypost versions it works with, for example `^1.0.0`. */
  readonly requires: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each class has a config of its own
  readonly connections?: Readonly<Record<string, ConnectionClass<any, any>>>
  // oxlint-disable-next-line typescript/no-explicit-any -- each class has a config of its own
  readonly actions?: Readonly<Record<string, ActionClass<any>>>
  /**
   * Routes of the plugin's own, mounted into each generation. Each says in its `config` who may call it: `{ scopes }` or
   * `{ public: true }`. The guard has answered whoever may not before a hook or handler of the plugin runs.
   */
  readonly routes?: FastifyPluginAsync
  readonly hooks?: PluginHooks
}

/** Called by a server around what it does; a hook that throws is logged and stops nothing. */
export interface PluginHooks {
  onActivated?(release: { readonly id: string }): void | Promise<void>
  onClosed?(): void | Promise<void>
}

/** Declares a plugin; the identity, with types. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin
}
