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
 * The code of a route's method, of a listener (`Action<'listener:NAME'>`), or of a cronjob (`Action<'cronjob'>`). One instance handles all requests of a
 * generation.
 */
export interface Action<Key extends ActionKey = RouteKey> {
  /** Handles a request. To return an error response, throw `context.problem`. */
  handle(request: Request<Key>, context: Context<Key>): Result<Key> | Promise<Result<Key>>
}

/**
 * Code that runs before the actions of methods that name it in `steps`. One instance handles all requests of a generation.
 * What `handle` returns is `context.state.NAME`.
 */
export interface RouteStep<State = unknown> {
  /** Throw `context.problem`, or return a response of `context.respond`, to end the request without its action. */
  handle(request: Request, context: Context): State | Response | Promise<State | Response>
  /** Called once the response was sent, or the caller has left. It cannot change the response or dispatch events. */
  after?(request: Request, context: Context, outcome: StepOutcome): void | Promise<void>
}

/** How a request ended, for `after` of a step. */
export interface StepOutcome {
  readonly status: number
  /** The time since the first step began, in milliseconds. */
  readonly ms: number
}

/** What a step adds to `context.state`: the result of its class, without responses. */
export type StateOf<Class> = Class extends abstract new (...args: never) => { handle(...args: never): infer Value }
  ? Exclude<Awaited<Value>, Response>
  : unknown

/**
 * A validated request. `params` and `query` are coerced to the types of their schemas, and so are the texts of forms; a
 * JSON `body` is not. Defaults are applied to `query` and `body`.
 */
export type Request<Key extends ActionKey = RouteKey> = RequestParts<Key> & BodyOf<Key> & RawOf<Key> & MessageOf<Key>

interface RequestParts<Key extends ActionKey> {
  /** `CRON` for a cronjob, `EVENT` for a listener. */
  readonly method: string
  /** Path and query string as sent; `cronjob:` and its name for a cronjob, `listener:` and its name for a listener. */
  readonly url: string
  readonly params: RouteOf<Key>['params']
  readonly query: RouteOf<Key>['query']
  readonly headers: IncomingHttpHeaders
  /**
   * The `id` of the last event that the client received, if it connects again; only for methods that send event streams.
   */
  readonly lastEventId?: string | undefined
}

/** The body, whose type depends on `contentType` if the method accepts several media types. */
type BodyOf<Key extends ActionKey> =
  RouteOf<Key> extends { readonly bodies: infer Bodies }
    ? { [Type in keyof Bodies]: { readonly body: Bodies[Type]; readonly contentType: Type } }[keyof Bodies]
    : {
        readonly body: RouteOf<Key>['body']
        /** The media type of the body, without parameters; undefined if the method has no `content`. */
        readonly contentType?: RouteOf<Key> extends { readonly contentType: infer Type } ? Type : string
      }

type RawOf<Key extends ActionKey> =
  RouteOf<Key> extends { readonly raw: true }
    ? {
        /** The exact bytes of the body, for signatures. */
        readonly raw: Uint8Array
      }
    : { readonly raw?: Uint8Array }

/** The message that a listener handles. */
type MessageOf<Key extends ActionKey> =
  RouteOf<Key> extends { readonly message: infer Message } ? { readonly message: Message } : unknown

/** A response with its own status and headers, created by `context.respond`. */
export interface Response<
  Status extends number = number,
  Body = unknown,
  Type extends string | undefined = string | undefined,
> {
  readonly status: Status
  readonly body: Body
  readonly headers: OutgoingHttpHeaders & { readonly 'content-type'?: Type }
}

/** The responses of the statuses that declare no media types. */
type Responses<Map, Types> = {
  [Key in Exclude<keyof Map, keyof Types>]: Response<StatusOf<Key, Map>, Map[Key]>
}[Exclude<keyof Map, keyof Types>]

/** The responses of the statuses that declare media types, each with the body of its type. */
type TypedResponses<Map, Types> = {
  [Key in keyof Types]: {
    [Type in keyof Types[Key] & string]: Response<
      StatusOf<Key, Map>,
      Types[Key][Type],
      WithParameters<Type> | undefined
    >
  }[keyof Types[Key] & string]
}[keyof Types]

/** Bytes have one of the declared media types, if there are any. */
type RawResponse<Types> = [keyof Types] extends [never]
  ? Response<number, Raw>
  : Response<number, Raw, WithParameters<{ [Key in keyof Types]: keyof Types[Key] & string }[keyof Types]> | undefined>

type WithParameters<Type extends string> = Type | `${Type};${string}`

/** The body of each media type by status; none if only JSON is declared. */
type TypesOf<Key extends ActionKey> = RouteOf<Key> extends { readonly types: infer Types } ? Types : object

/** The media type in the headers of a response. */
type ContentTypeOf<Headers> = Headers extends { readonly 'content-type': infer Type extends string } ? Type : undefined

/** The statuses of a key of `responses`. Ranges do not include statuses with a key of their own. */
type StatusOf<Key, Map> = Key extends number
  ? Key
  : Key extends '4XX'
    ? Exclude<ClientError, keyof Map>
    : Key extends '5XX'
      ? Exclude<ServerError, keyof Map>
      : Key extends 'default'
        ? Exclude<
            ('4XX' extends keyof Map ? never : ClientError) | ('5XX' extends keyof Map ? never : ServerError),
            keyof Map
          >
        : never

/** The registered statuses of errors. */
type ClientError =
  | 400
  | 401
  | 402
  | 403
  | 404
  | 405
  | 406
  | 407
  | 408
  | 409
  | 410
  | 411
  | 412
  | 413
  | 414
  | OtherClientError
type OtherClientError = 415 | 416 | 417 | 418 | 421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451
type ServerError = 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 509 | 510 | 511

/** A body that is sent unchanged: a Node or web stream, an async generator object, bytes, or a file. */
export type Raw = Readable | ReadableStream | AsyncIterable<string | Uint8Array> | Uint8Array | ArrayBuffer | Blob

/**
 * What `handle` may return: the body of the lowest declared 2xx status, a response of `context.respond`, or a stream or
 * bytes.
 */
export type Result<Key extends ActionKey> =
  | RouteOf<Key>['result']
  | Responses<RouteOf<Key>['responses'], TypesOf<Key>>
  | TypedResponses<RouteOf<Key>['responses'], TypesOf<Key>>
  | RawResponse<TypesOf<Key>>
  | Raw

/** The caller: a user, the client that acts for them, and the scopes of the token. */
export interface Principal {
  readonly user: { readonly id: string; readonly name: string }
  readonly client: { readonly id: string }
  readonly scopes: readonly string[]
}

/** Options of `context.dispatch`. */
export type DispatchOptions = DispatchAudience & (DispatchNow | DispatchDelayed)

interface DispatchAudience {
  /**
   * The ids of the users whose subscriptions receive the event; by default all subscriptions of the event receive it.
   */
  readonly users?: readonly string[]
}

interface DispatchNow {
  readonly delay?: undefined
  readonly at?: undefined
  readonly key?: undefined
  readonly replace?: undefined
}

type DispatchDelayed = (
  | {
      /** How long to wait before the event is sent, for example `1h30m`, at most 10 years. */
      readonly delay: string
      readonly at?: undefined
    }
  | {
      /** When to send the event. */
      readonly at: Date
      readonly delay?: undefined
    }
) &
  (
    | {
        /**
         * Identifies the delayed event among those of its name, in 1 to 255 characters, until it is sent. While one with this
         * key waits, another dispatch with it is dropped.
         */
        readonly key: string
        /** Replaces the data, users and time of the delayed event with this key, instead of being dropped. */
        readonly replace?: boolean
      }
    | { readonly key?: undefined; readonly replace?: undefined }
  )

/** Options of `context.call`, without the types of a route. */
export interface CallOptions {
  readonly params?: Readonly<Record<string, string | number | boolean>>
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly (string | number | boolean)[] | undefined>
  >
  /** JSON: a Date becomes a text, as over HTTP. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The id of the user as whom the method runs, with all scopes of the user. Required in cronjobs and listeners, and not
   * allowed if the request has a caller.
   */
  readonly as?: string | undefined
}

/** The options of `context.call` for a method. */
type CallOf<Key extends RouteKey> = PartOf<'params', RouteOf<Key>['params']> &
  PartOf<'body', SentOf<Key>> &
  Pick<CallOptions, 'as'> & {
    readonly query?: Partial<RouteOf<Key>['query']>
    /** For example `if-match`. */
    readonly headers?: Readonly<Record<string, string>>
  }

/** A part of a call, which is required if the method requires it. */
type PartOf<Name extends string, Value> = object extends Value
  ? { readonly [Each in Name]?: Value }
  : [Value] extends [undefined]
    ? { readonly [Each in Name]?: undefined }
    : undefined extends Value
      ? { readonly [Each in Name]?: Value }
      : { readonly [Each in Name]: Value }

/** The JSON body as callers send it. */
type SentOf<Key extends RouteKey> = RouteOf<Key> extends { readonly sent: infer Sent } ? Sent : RouteOf<Key>['body']

/** Whether a call needs no options. */
type ArgumentsOf<Options> = object extends Options ? [options?: Options] : [options: Options]

/** Options of `context.file`. */
export interface FileOptions {
  /** The name under which callers save the file; by default its own. */
  readonly name?: string
  /** The media type; by default that of the `Blob`, or the only one that the method declares. */
  readonly type?: string
  /** Whether browsers may show the file instead of saving it. It cannot run scripts. */
  readonly inline?: boolean
  /**
   * The folder that must contain the file: required for a path, which a caller may have chosen. Paths that lead out of it,
   * links to other folders and names with a leading dot are not found.
   */
  readonly root?: string | URL
}

/** The media types of the result of an action. */
type AcceptsOf<Key extends ActionKey> = RouteOf<Key> extends { readonly accepts: infer Accepts } ? Accepts : string

/** The results of the steps of a method. */
type StatesOf<Key extends ActionKey> =
  RouteOf<Key> extends { readonly state: infer State } ? State : Readonly<Record<string, unknown>>

/** The caller of an action, who is known on private routes. */
type PrincipalOf<Key extends ActionKey> =
  RouteOf<Key> extends { readonly private: true } ? Principal : Principal | undefined

/**
 * What an action can use while it handles a request or a run of a cronjob. `Context<'GET /todo'>` knows whether the route
 * has a caller.
 */
export interface Context<Key extends ActionKey = ActionKey> {
  /** Returns the client of a connection. Inside `transaction` of the same connection, returns the transaction. */
  connection<Name extends ConnectionName>(name: Name): ClientOf<Name>
  /**
   * Runs `work` in a transaction, which is committed when `work` returns and rolled back when it throws. If the
   * connection is System, `dispatch` inside `work` is part of the transaction. A nested transaction of the same
   * connection joins the outer one: if its work throws, the outer one cannot commit.
   */
  transaction<Name extends ConnectionName, Value>(
    name: Name,
    work: (client: ClientOf<Name>) => Promise<Value>,
  ): Promise<Value>
  /**
   * Sends an event to its subscribers in the background, now or later. It is stored with the transaction, or outside of one
   * when the action succeeds.
   */
  dispatch<Name extends EventName>(name: Name, data: EventData<Name>, options?: DispatchOptions): Promise<void>
  /**
   * Cancels the delayed event with this key, if it is not sent yet. Like `dispatch`, it is part of the transaction, or
   * takes effect when the action succeeds.
   */
  cancel(name: EventName, key: string): Promise<void>
  /** Returns an error for a problem+json response with the status and detail. Throw it. */
  problem(status: number, detail: string): Error
  /**
   * Checks `If-Match` and `If-None-Match` of a request that changes a resource. Call it before the change.
   * @param etag the current ETag of the resource with its quotes, for example `"3"`; undefined if the resource does not exist
   * @throws a problem 412 if the caller knows another version, or 400 if a header is malformed
   */
  precondition(etag: string | undefined): void
  /** Returns a response with a declared status, and optionally headers. Statuses 204, 205 and 304 have no body. */
  respond<
    const Status extends number,
    Body = undefined,
    const Headers extends OutgoingHttpHeaders = { readonly 'content-type'?: undefined },
  >(
    status: Status,
    body?: Body,
    headers?: Headers,
  ): Response<Status, Body, ContentTypeOf<Headers>>
  /**
   * Returns a response that sends a file or a `Blob` as a download, with `Content-Disposition`, `Last-Modified`, `ETag` and
   * `Range`. Return it from `handle`. `source` is a file URL, a `Blob`, or with `root` a path in a folder.
   * @throws a 404 problem if the file does not exist
   */
  file(source: URL | Blob | string, options?: FileOptions): Promise<Response<200 | 206, Raw, undefined>>
  /**
   * Runs another method of the release within this request, as the same caller: with its scopes, validation, steps and
   * events. In a transaction, it is part of it; if it fails, what it did is rolled back, and the transaction can continue.
   * Await it before the next statement of the transaction.
   * @param operation for example `GET /todo/:todo_id`
   * @returns the body of its response
   * @throws the problem that a caller over HTTP would get, with its `status`
   */
  call<Operation extends RouteKey>(
    operation: Operation,
    ...options: ArgumentsOf<CallOf<Operation>>
  ): Promise<RouteOf<Operation>['result']>
  /**
   * Returns an error that ends the run of a listener for good: it is neither repeated nor reported as a failure. Throw it.
   */
  discard(reason: string): Error
  /**
   * Returns an error that puts off the run of a listener until a time, without counting a failure, at most 100 times. Throw
   * it.
   */
  retryAt(date: Date): Error
  /** Shows how far the run of a listener is: a number from 0 to 1, and optionally a text. */
  progress(value: number, text?: string): void
  /** The variables declared below `env:` in waypost.yml. Each server reads them when it starts the release. */
  readonly env: EnvValues
  /** The caller; undefined on a public route without a token, and in a cronjob. */
  readonly principal: PrincipalOf<Key>
  /** The declared media type of the result that the caller prefers, by its `Accept` header. */
  readonly accepts: AcceptsOf<Key>
  /** What the steps of the method returned, by name. */
  readonly state: StatesOf<Key>
  readonly log: Log
  /** Aborts when the caller disconnects or the timeout expires; in a cronjob or listener also when its process stops. */
  readonly signal: AbortSignal
  /** Returns the current time. Tests can move it. */
  now(): Date
}

/** The log of a request. `fields` are logged together with the request id. */
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
