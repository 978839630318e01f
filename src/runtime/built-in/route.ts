import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'

/** An endpoint of Waypost itself, as data: what is mounted, documented and tested comes from it. */
export interface BuiltInRoute<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Response extends TSchema = TSchema,
  Call = unknown,
> {
  /** The operation's id in the OpenAPI document. */
  readonly name: string
  readonly summary: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the prefix of its table, with parameters such as `:id`. */
  readonly path: string
  /** The largest body in bytes; that of its table by default. */
  readonly bodyLimit?: number
  readonly params?: Params
  /** Values are texts. */
  readonly query?: Query
  readonly body?: Body
  /** The status of a successful response; 200 by default, 204 without a response. A list if the call chooses. */
  readonly status?: SuccessStatus | readonly [SuccessStatus, ...SuccessStatus[]]
  /** The schema of a successful response. */
  readonly response?: Response
  /** The schema of each line if the response is a stream of lines of JSON. */
  readonly lines?: TSchema
  /** Whether the body or the response is a CSV file instead of JSON. The handler gets a body as a stream. */
  readonly csv?: 'body' | 'response'
  /** Accepts `If-Match` with the ETag of an earlier response. */
  readonly hasIfMatch?: boolean
  handle(
    call: Call & RouteInput<Static<Params>, Static<Query>, Static<Body>>,
  ): Promise<Immutable<Static<Response>> | Readable>
}

type SuccessStatus = 200 | 201 | 202

/** What a request has sent, checked by the schemas of its route. */
export interface RouteInput<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** With `csv: 'body'`: authorizes the request again. The end of the file may arrive minutes after its token. */
  readonly authorizeAgain?: (() => Promise<unknown>) | undefined
}

/** A value whose arrays may be read-only. */
type Immutable<Value> = Value extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Immutable<Value[Key]> }
    : Value

/** The rules and the call that all routes of a table have. */
export interface RouteTable<Route extends BuiltInRoute> {
  /** Begins all paths: `/backend`. */
  readonly prefix: string
  /** The largest body in bytes. */
  readonly bodyLimit: number
  /** The type of errors and the limits that apply before a request is accepted. */
  readonly config?: FastifyContextConfig
  /** Rejects undeclared parameters of a query. */
  readonly hasStrictQuery?: boolean
  /** Throws if the caller must not use the route. Runs again when the body of a request has arrived. */
  authorize(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<unknown>
  /** Makes what a handler gets beside the request's input. */
  makeCall(request: FastifyRequest, reply: FastifyReply): object
  /** Responds to an error, or throws it. */
  sendError?(route: Route, error: unknown, reply: FastifyReply): Promise<unknown>
}
