import type { Blob } from 'node:buffer'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type {
  ActionKey,
  ClientOf,
  ConnectionName,
  EnvValues,
  EventData,
  EventName,
  RouteKey,
  RouteOf,
} from './registry.ts'

/**
 * The code behind one method of one route, or behind a cronjob: `Action<'cronjob'>`. One instance serves all requests of
 * a generation.
 */
export interface Action<Key extends ActionKey = RouteKey> {
  handle(request: Request<Key>, context: Context): Result<Key> | Promise<Result<Key>>
}

/**
 * What came in, validated. `params` and `query` are coerced to the types of their schemas, `body` is not; `query` and `body`
 * have their defaults.
 */
export interface Request<Key extends ActionKey = RouteKey> {
  /** `CRON` for a cronjob. */
  readonly method: string
  /** Path and query string as sent; `cronjob:` and its name for a cronjob. */
  readonly url: string
  readonly params: RouteOf<Key>['params']
  readonly query: RouteOf<Key>['query']
  readonly body: RouteOf<Key>['body']
  readonly headers: IncomingHttpHeaders
}

/** A body with a status and headers of its own, made by `context.respond`. */
export interface Response<Status extends number = number, Body = unknown> {
  readonly status: Status
  readonly body: Body
  readonly headers: OutgoingHttpHeaders
}

type Responses<Map> = { [Status in keyof Map & number]: Response<Status, Map[Status]> }[keyof Map & number]

/** A body that goes out as it is: a stream of Node or of the web, an async generator that runs, bytes, or a file. */
export type Raw = Readable | ReadableStream | AsyncIterable<string | Uint8Array> | Uint8Array | ArrayBuffer | Blob

/** What `handle` may return: the body of the lowest declared 2xx, a declared response, or a stream or bytes as they are. */
export type Result<Key extends ActionKey> =
  | RouteOf<Key>['result']
  | Responses<RouteOf<Key>['responses']>
  | Response<number, Raw>
  | Raw

/** Who calls: a user through a client, with the scopes that the token carries. */
export interface Principal {
  readonly user: { readonly id: string; readonly name: string }
  readonly client: { readonly id: string }
  readonly scopes: readonly string[]
}

export interface DispatchOptions {
  /** Ids of the only users whose subscriptions receive it. Without, every subscription of the event does. */
  readonly users?: readonly string[]
}

/** What Waypost lends to an action for one request, or one run of a cronjob. */
export interface Context {
  /** The client of a connection; inside `transaction` of the same connection, the transaction. */
  connection<Name extends ConnectionName>(name: Name): ClientOf<Name>
  /**
   * Runs `work` in one transaction: committed when it returns, rolled back when it throws. Inside it `dispatch` belongs
   * to the transaction if the connection is System. One inside another of the same connection is a part of it: when its
   * work throws, the outer one cannot commit either.
   */
  transaction<Name extends ConnectionName, Value>(
    name: Name,
    work: (client: ClientOf<Name>) => Promise<Value>,
  ): Promise<Value>
  /** Sends an event to its subscribers, in the background. Stored with the transaction, or when the action succeeded. */
  dispatch<Name extends EventName>(name: Name, data: EventData<Name>, options?: DispatchOptions): Promise<void>
  /** Makes the error that answers with the status and, as problem+json, the detail. `throw` it. */
  problem(status: number, detail: string): Error
  /** Answers with another declared status, or with headers; 204, 205 and 304 take no body. */
  respond<const Status extends number, Body = undefined>(
    status: Status,
    body?: Body,
    headers?: OutgoingHttpHeaders,
  ): Response<Status, Body>
  /** The variables that `env:` in waypost.yml declares, read by this server when it brought up the release. */
  readonly env: EnvValues
  /** Who calls; undefined on a public route that was called without a token, and for a cronjob. */
  readonly principal: Principal | undefined
  readonly log: Log
  /** Aborts when the caller goes away or the timeout has passed; for a cronjob also when the server has to stop. */
  readonly signal: AbortSignal
  /** The clock; tests turn it. */
  now(): Date
}

/** The log of one request; `fields` are written beside its id. */
export interface Log {
  debug(fields: object, message?: string): void
  debug(message: string): void
  info(fields: object, message?: string): void
  info(message: string): void
  warn(fields: object, message?: string): void
  warn(message: string): void
  error(fields: object, message?: string): void
  error(message: string): void
}
