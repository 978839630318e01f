import type { Kysely } from 'kysely'

/**
 * The routes of a project, keyed `METHOD /path`. A project's `.waypost/types.d.ts` fills it in; without that file any
 * key is accepted and everything is `any`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Routes {}

/** The events of a project, name → data. Filled in by `.waypost/types.d.ts`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Events {}

/** The connections of a project, name → client. Filled in by `.waypost/types.d.ts`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Connections {}

/** The variables that a project declares under `env:`, name → value. Filled in by `.waypost/types.d.ts`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Env {}

/** What `.waypost/types.d.ts` says of one method of one route. */
export interface RouteTypes {
  readonly params: unknown
  readonly query: unknown
  /** With defaults filled in. */
  readonly body: unknown
  /** The body as callers send it, where that has another type. */
  readonly sent?: unknown
  /** What `handle` may return as it is: the body of the lowest declared 2xx. */
  readonly result: unknown
  /** Body by status, for `context.respond`. */
  readonly responses: unknown
}

// oxlint-disable-next-line typescript/no-explicit-any -- stands for a project without generated types
type Any = any

/** What an action of a cronjob is called with. What it returns is dropped. */
export interface CronjobTypes {
  readonly params: {
    /** The name of the cronjob. */
    readonly cronjob: string
    /** The moment for which it runs, as ISO text. */
    readonly slot: string
  }
  readonly query: Readonly<Record<string, never>>
  readonly body: undefined
  readonly result: unknown
  readonly responses: Readonly<Record<number, unknown>>
}

/** `METHOD /path` of every route. */
export type RouteKey = [keyof Routes] extends [never] ? string : keyof Routes & string
/** What an action can be for: a route by its key, or `cronjob`. */
export type ActionKey = RouteKey | 'cronjob'
export type RouteOf<Key extends ActionKey> = Key extends 'cronjob'
  ? CronjobTypes
  : Key extends keyof Routes
    ? Routes[Key] extends RouteTypes
      ? Routes[Key]
      : never
    : { params: Any; query: Any; body: Any; result: Any; responses: Record<number, Any> }

export type EventName = [keyof Events] extends [never] ? string : keyof Events & string
export type EventData<Name extends EventName> = Name extends keyof Events ? Events[Name] : Any

export type ConnectionName = [keyof Connections] extends [never] ? string : keyof Connections & string
export type ClientOf<Name extends ConnectionName> = Name extends keyof Connections ? Connections[Name] : Kysely<Any>

/** With generated types, which always name System, a variable that is not declared is a mistake. */
export type EnvValues = Readonly<[keyof Connections] extends [never] ? Record<string, Any> : Env>
