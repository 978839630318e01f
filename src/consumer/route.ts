import type { FastifyRequest } from 'fastify'
import { Type, type TObject, type TProperties, type TSchema } from 'typebox'
import {
  consumerScope,
  loginClientId,
  readTokenId,
  userClientIds,
  type describeScope,
  type Guard,
  type Login,
  type TokenIssuer,
} from '../auth/index.ts'
import type { EventCatalog, Subscriptions } from '../events/index.ts'
import type { BuiltInRoute } from '../runtime/index.ts'

/** What the endpoints below `/consumer` use of their server. */
export interface ConsumerSources {
  readonly guard: Guard
  readonly issuer: TokenIssuer
  readonly subscriptions: Subscriptions
  /** Returns the scopes of the active release with their descriptions. */
  scopes(): Parameters<typeof describeScope>[0]
  /** Returns the events of the active release. */
  catalog(): EventCatalog
  /** Describes the data of an event of the catalog. */
  describeData(name: string): DescribedData
}

export interface DescribedData {
  /** Undefined if any data may be dispatched. */
  readonly schema: unknown
  /** The named schemas that `schema` refers to, at any depth. */
  readonly schemas: Readonly<Record<string, unknown>>
  /** Data that matches `schema`; undefined if none can be generated. */
  readonly example: unknown
}

export interface Caller {
  readonly id: string
  readonly name: string
  /** The scopes of the token that its user and its client still have. */
  readonly scopes: readonly string[]
  /** The client that the token was issued to; the login client for all tokens that act as the user. */
  readonly client: {
    readonly id: string
    /** Whether the caller is the user, who logged in or uses the portal, and not a third-party program. */
    readonly isLogin: boolean
  }
  /** The id of the token. */
  readonly jti: string
}

/** What a handler gets beside the request's input. */
interface ConsumerCall extends ConsumerSources {
  readonly login: Login
  readonly request: FastifyRequest
  /** The user and the token. Only routes that need a token have one. */
  caller(): Caller
  /** Chooses one of the statuses of the route. */
  setStatus(status: 200 | 201): void
}

/** An endpoint below `/consumer`. */
export interface ConsumerRoute<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Response extends TSchema = TSchema,
> extends BuiltInRoute<Params, Query, Body, Response, ConsumerCall> {
  /**
   * Who may call it: anyone; each token with the scope `consumer`; or only tokens of a login or of the portal. Clients
   * of other owners may read the account and manage subscriptions, but must not change the account, other clients, or
   * tokens that outlive their own.
   */
  readonly callers: 'all' | 'tokens' | 'logins'
  /** Whether it exists now; other requests get 404. */
  isOffered?(sources: ConsumerSources): boolean
}

/** Types a route by its schemas. */
export function defineRoute<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Response extends TSchema,
>(route: ConsumerRoute<Params, Query, Body, Response>): ConsumerRoute {
  return route
}

/** The caller of an authorized request. */
export function callerOf(request: FastifyRequest): Caller {
  const { user, scopes, client } = request.principal!
  const isLogin = userClientIds.includes(client.id)
  return {
    ...user,
    scopes,
    client: { id: isLogin ? loginClientId : client.id, isLogin },
    jti: readTokenId(request.headers.authorization!.replace(/^bearer +/i, '').trim())!,
  }
}

/** The scopes of which a token needs one; undefined if the route needs no token. */
export function scopesOfRoute({ callers }: ConsumerRoute): readonly string[] | undefined {
  return callers === 'all' ? undefined : [consumerScope]
}

// Parts of the schemas of several routes.

/** An object without other properties. */
export function record<Properties extends TProperties>(properties: Properties, options: object = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

export const text = Type.String()
export const texts = Type.Array(text)
/** RFC 3339, in UTC. */
export const time = Type.String({ format: 'date-time' })

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** A list without pages. */
export function listOf<Entry extends TSchema>(entry: Entry) {
  return record({ entry: Type.Array(entry) })
}

export const byId = record({ id: text })
