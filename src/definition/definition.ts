import type { JsonSchema } from '../contract/index.ts'
import type { DeclaredVariable } from '../kit/index.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Where something stands: `file` relative to the project's root, lines and columns from 1. */
export interface Location {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** What the YAML of a project says: parsed, included, checked. Maps keep the order of the files. */
export interface Definition {
  readonly routes: readonly Route[]
  /**
   * Named schemas, all of JSON Schema 2020-12; a reference to one is `{ $ref: 'schema:///NAME' }`. A file that a relative
   * `$ref` reaches is one of them, named after its path.
   */
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly connections: Readonly<Record<string, ClassUse>>
  readonly events: Readonly<Record<string, EventDefinition>>
  /** Every scope that is named anywhere, with its description where `scope:` gives one. */
  readonly scopes: Readonly<Record<string, { readonly description?: string }>>
  readonly cronjobs: Readonly<Record<string, Cronjob>>
  readonly rates: Readonly<Record<string, Rate>>
  /** Settings as written; values may hold `${env.NAME}`. */
  readonly config: Readonly<Record<string, unknown>>
  readonly plugins: readonly PluginUse[]
  /** The variables in `${env.NAME}` and those that `env:` declares. */
  readonly variables: Readonly<Record<string, VariableUse>>
}

export interface Route {
  /** Path with colon-prefixed parameters, for example `/todo/:todo_id`. */
  readonly path: string
  readonly methods: readonly Method[]
  /** ISO date since which the route is deprecated; true where none is said. */
  readonly deprecated?: string | true
  readonly at: Location
}

export interface Method {
  readonly method: HttpMethod
  readonly public: boolean
  readonly description?: string
  /** A token needs one of these; none means any valid token. Also set on public methods that name them. */
  readonly scopes: readonly string[]
  /** Object schema of the path parameters. */
  readonly params?: JsonSchema
  /** Object schema of the query parameters. */
  readonly query?: JsonSchema
  readonly request?: JsonSchema
  /** Schema by status, in ascending order of status. */
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly action: ActionUse
  /** Event to which a 2xx result is dispatched. */
  readonly dispatch?: string
  readonly timeoutMs?: number
  readonly rate?: string
  readonly html?: 'trusted'
  readonly at: Location
}

export type ActionUse = { readonly file: string; readonly at: Location } | ClassUse

/** A configured plugin class. */
export interface ClassUse {
  readonly class: string
  readonly config: Readonly<Record<string, unknown>>
  readonly at: Location
}

export interface EventDefinition {
  readonly description?: string
  readonly schema?: JsonSchema
  /** The subscriber must hold one of these. Without, everybody who may subscribe at all may. */
  readonly scopes?: readonly string[]
}

export interface Cronjob {
  /** Five fields, as in crontab. */
  readonly schedule: string
  readonly timezone?: string
  /** A duration: after it the run has failed. */
  readonly timeout?: string
  readonly action: ActionUse
}

export interface Rate {
  readonly limit: number
  readonly windowMs: number
  readonly by: 'principal' | 'address'
}

export interface VariableUse {
  /** It has a default wherever it is used. */
  readonly optional: boolean
  /** What `env:` says of it; without that, actions cannot read it. */
  readonly declared?: DeclaredVariable
}

export interface PluginUse {
  readonly name: string
  readonly config: Readonly<Record<string, unknown>>
}
