import { isJsonType, encodePathValue, fillPath } from '../kit/index.ts'
import type { RouteKey, RouteOf } from '../contract/index.ts'
import { issueHostToken } from '../operate/index.ts'
import type { Host } from '../host/index.ts'
import { findItemReader } from './read-items.ts'
import { testErrors } from './errors.ts'
import type { EventTrap } from './event-trap.ts'
import { writeBody, type UnchangedBody } from './write-body.ts'

/** That of Node, even while a test has replaced the global one for the code of its actions. */
const { fetch } = globalThis

type SentBody<Key extends RouteKey> =
  | (RouteOf<Key> extends { readonly sent: infer Sent } ? Sent : RouteOf<Key>['body'])
  | (RouteOf<Key> extends { readonly bodies: object } | { readonly contentType: string } ? UnchangedBody : never)

/** The contents of a request, typed by its route. */
export interface Injection<Key extends RouteKey> {
  readonly params?: RouteOf<Key>['params']
  readonly query?: Partial<RouteOf<Key>['query']>
  /**
   * Sent as JSON. An object with a `File` becomes a `FormData`. A `FormData`, `URLSearchParams`, bytes, streams, and with
   * another `content-type` texts, are sent as they are.
   */
  readonly body?: SentBody<Key>
  readonly headers?: Readonly<Record<string, string>>
}

/** The response. */
export interface Injected<Key extends RouteKey> {
  readonly status: number
  readonly headers: Headers
  /**
   * Parsed if it is JSON, otherwise the text. Of a stream of values, what arrives, as it arrives: `for await (const { data } of
   * body)` for events, or the values of `application/jsonl`. Leaving the loop closes the connection.
   */
  readonly body: ReceivedOf<Key>
  /** The raw body, for binary content; empty for a stream of values. */
  readonly bytes: Uint8Array
}

/** What callers get of the result of a route. */
type ReceivedOf<Key extends RouteKey> =
  RouteOf<Key> extends { readonly items: infer Item }
    ? Exclude<RouteOf<Key>['result'], AsyncIterable<unknown>> extends infer Other
      ? [Other] extends [never]
        ? AsyncIterable<Item>
        : Other | AsyncIterable<Item>
      : never
    : RouteOf<Key>['result']

/** A caller of the API under test. */
export interface Caller {
  /** Sends a request to a route, named as in `Action<'POST /todo'>`, then delivers the events that it dispatched. */
  inject<Key extends RouteKey>(route: Key, injection?: Injection<Key>): Promise<Injected<Key>>
}

/**
 * Creates a caller whose token has these scopes. It gets a new token if the clock has moved past the expiry of the
 * last.
 */
export function makeCaller(
  target: InjectTarget,
  { host, user, scopes }: { host: Host; user: string; scopes: readonly string[] },
): Caller {
  const { trap } = target
  const send = makeInject(target)
  const issue = async () => {
    await trap.ensureUser(user, scopes)
    const issued = await issueHostToken(
      { ...host, actor: { how: 'command', name: 'test' } },
      { user, scopes, expires: undefined },
    )
    return { token: issued.access_token, expiresAt: host.clock.now() + issued.expires_in * 1000 }
  }
  let issued: ReturnType<typeof issue> | undefined
  return {
    inject: async (route, injection = {}) => {
      issued ??= issue()
      if (host.clock.now() >= (await issued).expiresAt - marginMs) issued = issue()
      const headers = { authorization: `Bearer ${(await issued).token}`, ...injection.headers }
      return send(route, { ...injection, headers })
    },
  }
}

/** The token must remain valid until the request arrives. */
const marginMs = 1000

export interface InjectTarget {
  readonly url: string
  readonly trap: EventTrap
  /** The routes that send streams of values. */
  readonly streams: ReadonlySet<string>
}

/** Sends requests to the app and delivers the events that they dispatched. */
export function makeInject({ url, trap, streams }: InjectTarget): Caller['inject'] {
  return async (route, injection = {}) => {
    const [method = '', template = ''] = route.split(' ')
    const params = (injection.params ?? {}) as Record<string, unknown>
    const filled = fillPath(template, (name, isRest) => {
      if (!(name in params)) throw testErrors.WP_TESTING_PARAMETER({ route, name })
      return encodePathValue(String(params[name]), isRest)
    })
    const query = new URLSearchParams(
      Object.entries(injection.query ?? {}).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, String(one)]),
      ),
    )
    const { body: sent, headers } = writeBody(injection.body, injection.headers)
    const response = await fetch(`${url}${filled}${query.size === 0 ? '' : `?${query.toString()}`}`, {
      method,
      headers,
      ...(sent !== undefined && { body: sent, duplex: 'half' }),
    })
    const isDeclared = response.ok && streams.has(route)
    const readItems = isDeclared ? findItemReader(response.headers.get('content-type')) : undefined
    if (readItems !== undefined) {
      const { status, headers } = response
      return {
        status,
        headers,
        body: readItems(response.body!, () => trap.deliver()) as never,
        bytes: new Uint8Array(),
      }
    }
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = new TextDecoder().decode(bytes)
    const isJson = text !== '' && isJsonType(response.headers.get('content-type') ?? '')
    await trap.deliver()
    const body = (isJson ? JSON.parse(text) : text) as never
    return { status: response.status, headers: response.headers, body, bytes }
  }
}
