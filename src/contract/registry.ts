import type { Kysely } from 'kysely'

/**
 * The routes of a project, keyed by `METHOD /path`. The project's `.waypost/types.d.ts` augments it. Without that file
 * any key is accepted and all types are `any`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Routes {}

/** The events of a project: name → data. Augmented by `.waypost/types.d.ts`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Events {}

/** The listeners of a project: name → the name of its event. Augmented by `.waypost/types.d.ts`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Listeners {}

/** The connections of a project: name → client. Augmented by `.waypost/types.d.ts`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Connections {}

/** The variables that a project declares below `env:`: name → value. Augmented by `.waypost/types.d.ts`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- augmented by the project
export interface Env {}

/** The types of a route's method in `.waypost/types.d.ts`. */
export interface RouteTypes {
  readonly params: unknown
  readonly query: unknown
  /** With defaults applied. */
  readonly body: unknown
  /** The media type of the body, if `content` lists one. */
  readonly contentType?: string
  /** The body by media type, if `content` lists several. */
  readonly bodies?: object
  /** Set if the action gets the bytes of the body too. */
  readonly raw?: true
  /** The body as callers send it, if its type differs. */
  readonly sent?: unknown
  /** The type that `handle` may return directly: the body of the lowest declared 2xx status. */
  readonly result: unknown
  /** The body for each status, for `context.respond`. */
  readonly responses: unknown
  /** The body for each media type by status, if media types are declared. */
  readonly types?: unknown
  /** The media types of the result, if they are declared. */
  readonly accepts?: string
  /** What callers get of each item, if the result is a stream of values. */
  readonly items?: unknown
  /** The results of its steps. */
  readonly state?: unknown
  /** Set if every request has a token. */
  readonly private?: true
}

// oxlint-disable-next-line typescript/no-explicit-any -- for projects without generated types
type Any = any

/** The types of a cronjob's action. Its result is ignored. */
export interface CronjobTypes {
  readonly params: {
    /** The name of the cronjob. */
    readonly cronjob: string
    /** The scheduled time of the run, as ISO text. */
    readonly slot: string
    /** The arguments of `waypost run`, which gives the file as `cronjob`, and the current time as `slot`. */
    readonly args?: readonly string[]
  }
  readonly query: Readonly<Record<string, never>>
  readonly body: undefined
  readonly result: unknown
  readonly responses: Readonly<Record<number, unknown>>
}

/** The message of a run of a listener. */
export interface ListenerMessage {
  /** The same in each run of the message, also by other listeners. */
  readonly id: string
  /** Counts the runs that failed, from 1. */
  readonly attempt: number
  readonly dispatched_at: Date
}

/** The types of a listener's action. Its result is ignored. */
export interface ListenerTypes<Data = Any> {
  readonly params: {
    /** The name of the listener. */
    readonly listener: string
  }
  readonly query: Readonly<Record<string, never>>
  /** The data of the event. */
  readonly body: Data
  readonly message: ListenerMessage
  readonly result: unknown
  readonly responses: Readonly<Record<number, unknown>>
}

/** The key of each listener: `listener:bill`. Without generated types, any name is accepted. */
export type ListenerKey = [keyof Connections] extends [never]
  ? `listener:${string}`
  : `listener:${keyof Listeners & string}`

/** The name of a listener. */
export type ListenerName = [keyof Connections] extends [never] ? string : keyof Listeners & string

/** The data of the event of a listener. */
type ListenerData<Name> = Name extends keyof Listeners
  ? Listeners[Name] extends keyof Events
    ? Events[Listeners[Name]]
    : Any
  : Any

/** `METHOD /path` of each route. */
export type RouteKey = [keyof Routes] extends [never] ? string : keyof Routes & string
/** The key of an action: that of a route or listener, or `cronjob`. */
export type ActionKey = RouteKey | ListenerKey | 'cronjob'
/** The types of a route, listener or cronjob. */
export type RouteOf<Key extends ActionKey> = Key extends 'cronjob'
  ? CronjobTypes
  : Key extends `listener:${infer Name}`
    ? ListenerTypes<ListenerData<Name>>
    : Key extends keyof Routes
      ? Routes[Key] extends RouteTypes
        ? Routes[Key]
        : never
      : { params: Any; query: Any; body: Any; result: Any; responses: Record<number, Any> }

/** The name of an event. */
export type EventName = [keyof Events] extends [never] ? string : keyof Events & string
/** The data of an event. */
export type EventData<Name extends EventName> = Name extends keyof Events ? Events[Name] : Any

/** The name of a connection. */
export type ConnectionName = [keyof Connections] extends [never] ? string : keyof Connections & string
/** The client of a connection. */
export type ClientOf<Name extends ConnectionName> = Name extends keyof Connections ? Connections[Name] : Kysely<Any>

/** Generated types always contain System, so with them undeclared variables are type errors. */
export type EnvValues = Readonly<[keyof Connections] extends [never] ? Record<string, Any> : Env>
