import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ManifestMethod, ManifestRoute } from '../release/index.ts'
import type { ActionContext } from './action-context.ts'
import { compress, restoreCoding } from './compression.ts'
import { addVary, isKnown, makeCaching, removeBodyHeaders } from './conditions.ts'
import { isUnwelcome } from './connections.ts'
import { errors } from './errors.ts'
import { discardResult } from './raw-body.ts'
import {
  makeResultDispatch,
  makeResultReader,
  type CheckedHeaders,
  type ExplicitResponse,
  type PreparedResponse,
} from './read-result.ts'
import { LeanResponse } from './lean-messages.ts'
import { nameAction, reportDropped } from './report-dropped.ts'
import type { RouteCounter } from './route-statistics.ts'
import type { RunningActions } from './running-actions.ts'
import { accepts } from './media/accept.ts'
import { ItemStream } from './media/item-stream.ts'
import { resultTypesOf } from './media/negotiate.ts'
import { SentStream, type StreamSources } from './media/start-stream.ts'
import type { StreamGroup } from './media/stream-group.ts'
import type { WriteSources } from './write-result.ts'
import type { Written } from './written.ts'

export interface SendSources extends WriteSources, StreamSources {
  /** Headers of responses that a browser may display. */
  readonly pageHeaders: Readonly<Record<string, string>>
  /** The path of `WAYPOST_BASE_URL`, which a proxy removes: empty, or for example `/api`. */
  readonly basePath: string
  /** Whether responses are compressed, unless the method says otherwise. */
  readonly compression: boolean
}

/** The result of an action, with the reply to send it to. */
export interface ActionResult {
  readonly result: unknown
  readonly context: ActionContext
  readonly reply: FastifyReply
}

/** Sends the results of the actions of a method. */
export interface Sender {
  /**
   * Checks and serializes a result, and dispatches its event.
   * @returns a function that sends the response
   */
  prepare(sending: ActionResult): SendPrepared
  /** @returns a promise if events must be stored before the response is sent */
  send(sending: ActionResult): Promise<void> | undefined
}

/** @returns a promise if events must be stored before the response is sent */
export type SendPrepared = () => Promise<void> | undefined

/** A method whose results are sent. */
export interface Sending {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
  readonly counter: RouteCounter
  readonly running: RunningActions
  /** The streams of values that it sends. */
  readonly group: StreamGroup
}

/** Writing as many characters takes up to a fifth of a second. */
const largeResult = 4 * 1024 * 1024

/** Makes the sender of a method. */
export function makeSender(sources: SendSources, sending: Sending): Sender {
  const { method } = sending
  const action = nameAction(sending)
  const { read, success } = makeResultReader(sources, method, action)
  const isSafe = method.method === 'GET' // other methods have already changed data
  const dispatch = makeResultDispatch(method, action)
  const respond = makeResponder(sending, sources)
  const reportInfinite = makeInfiniteReporter(action)
  let hasWarned = false
  const warnLarge = (reply: FastifyReply, characters: number) => {
    hasWarned = true
    reply.request.log.warn({ action, characters }, 'result is large: writing it delays other requests; return pages')
  }

  const reportWritten = (reply: FastifyReply, { dropped, infinite }: Written) => {
    if (dropped !== undefined) reportDropped(reply.request, { action, fields: dropped })
    if (infinite !== undefined) reportInfinite(reply, infinite)
  }
  const prepareNow = ({ result, context, reply }: ActionResult): PreparedResponse => {
    const prepared = read(result)
    const { status, written, body } = prepared
    reportWritten(reply, written)
    if (isSafe && success.includes(status) && written.payload !== undefined) assertAcceptable(reply.request, written)
    const { payload } = written
    if (isSafe && isUnwelcome(reply.raw, lengthOf(payload))) throw errors.WP_RUNTIME_UNREAD()
    if (!hasWarned && typeof payload === 'string' && payload.length > largeResult) warnLarge(reply, payload.length)
    if (status < 300 && !context.isEndedByStep) dispatch?.(context, written)
    if (payload === undefined) discardResult(body)
    return prepared
  }
  const sendNow = ({ context, reply }: ActionResult, prepared: PreparedResponse): Promise<void> | undefined => {
    if (prepared.status >= 400 || !context.hasDispatched) return respond(reply, prepared)
    return context.storeDispatched().then(() => respond(reply, prepared))
  }
  const discardAndThrow = (result: unknown, error: unknown): never => {
    discardResult(result)
    throw error
  }
  return {
    prepare(sending) {
      try {
        const prepared = prepareNow(sending)
        return () => sendNow(sending, prepared)
      } catch (error) {
        return discardAndThrow(sending.result, error)
      }
    },
    send(sending) {
      try {
        return sendNow(sending, prepareNow(sending))?.catch((error: unknown) => discardAndThrow(sending.result, error))
      } catch (error) {
        return discardAndThrow(sending.result, error)
      }
    },
  }
}

/** The least bytes that a payload takes; 0 for a stream, which waits for its reader. */
function lengthOf(payload: Written['payload']): number {
  return payload === undefined || payload instanceof Readable ? 0 : payload.length
}

function makeResponder(sending: Sending, sources: SendSources) {
  const { method, counter } = sending
  const { pageHeaders, basePath, compression } = sources
  const hasSeveralTypes = resultTypesOf(method).length > 1
  const addCaching = makeCaching(method)
  const addBrowserHeaders = makeBrowserHeaders(pageHeaders)
  const isReading = method.method === 'GET'
  const isCompressed = compression && method.compression !== false
  const sendBody = (
    reply: FastifyReply,
    payload: NonNullable<Written['payload']>,
    type: string,
  ): Promise<void> | undefined => {
    if (payload instanceof Readable && reply.request.method === 'HEAD') {
      const body = isCompressed ? compress(reply, payload, type) : payload // for the headers of a GET
      if (body instanceof Readable) body.destroy()
      payload.destroy()
      reply.send()
      return undefined
    }
    const sent = payload instanceof ItemStream ? followItems(reply, payload, sources, sending) : undefined
    if (sent === undefined && payload instanceof Readable && type.startsWith('text/event-stream'))
      cutWithAccess(reply, sources, method)
    if (sent !== undefined && reply.raw.closed) return undefined
    const body = isCompressed ? compress(reply, payload, type) : payload
    if (body instanceof Promise) return body.then((bytes) => void reply.send(bytes))
    if (body === payload && sent !== undefined) sent.send()
    else reply.send(body)
    return undefined
  }
  return (reply: FastifyReply, { status, written, explicit }: PreparedResponse): Promise<void> | undefined => {
    if (explicit !== undefined) addHeaders(reply, explicit.headers, basePath)
    const { payload, type, isJson } = written
    addCaching?.(reply, status, payload)
    const hasValidator = addCaching !== undefined || explicit !== undefined
    if (isReading && hasValidator && isKnown(reply, status)) {
      if (payload instanceof Readable) payload.destroy()
      counter.count(reply, 304)
      removeBodyHeaders(reply)
      if (isCompressed) restoreCoding(reply)
      reply.code(304).send()
      return undefined
    }
    counter.count(reply, status)
    if (payload === undefined) {
      if (isCompressed && status === 304) restoreCoding(reply)
      reply.code(explicit === undefined && status === 200 ? 204 : status).send()
      return undefined
    }
    reply.code(status).header('content-type', type)
    if (hasSeveralTypes) addVary(reply, 'Accept')
    if (!isJson) addBrowserHeaders(reply, hasTrustedHtml(method, explicit))
    return sendBody(reply, payload, type)
  }
}

/** Ends a response that may last long once its caller may no longer have it, as streams of values do. */
function cutWithAccess({ raw, request }: FastifyReply, { guard }: SendSources, method: ManifestMethod): void {
  const { authorization } = request.headers
  if (request.principal === undefined || authorization === undefined || raw.closed) return
  raw.once(
    'close',
    guard.watch(authorization, method.public ? [] : method.scopes, () => raw.destroy()),
  )
}

/** Prepares the response whose body is a stream of values. */
function followItems(reply: FastifyReply, stream: ItemStream, sources: SendSources, sending: Sending): SentStream {
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  reply.header('x-accel-buffering', 'no') // nginx would hold events back
  return new SentStream(reply, stream, sources, sending)
}

/** Adds the headers of an action. What was known before stays in `Vary`: responses also differ by it. */
function addHeaders(reply: FastifyReply, headers: CheckedHeaders, basePath: string): void {
  const before = headers['vary'] === undefined ? undefined : reply.getHeader('vary')
  reply.headers(basePath === '' ? headers : addBasePath(headers, basePath))
  if (before !== undefined) for (const name of String(before).split(',')) addVary(reply, name.trim())
}

/**
 * Rejects a declared response that the caller does not accept. A response that the action chose itself is the only one,
 * so it is always sent.
 * @throws WP_RUNTIME_NOT_ACCEPTABLE
 */
function assertAcceptable({ headers: { accept } }: FastifyRequest, { type }: Written): void {
  if (accept === undefined || accept === '*/*' || accepts(accept, type)) return
  throw errors.WP_RUNTIME_NOT_ACCEPTABLE({ type: type.split(';', 1)[0]! })
}

/** Logs only the first field: if a row has such a number, so has every list with the row. */
function makeInfiniteReporter(action: string) {
  let hasReported = false
  return ({ request }: FastifyReply, field: string): void => {
    if (hasReported) return
    hasReported = true
    request.log.warn({ action, field }, 'result has a number that is NaN or infinite; sent as null')
  }
}

const addresses = ['location', 'content-location'] as const

/** Actions know the paths of the project. Callers need those of the proxy. */
function addBasePath(headers: CheckedHeaders, basePath: string): CheckedHeaders {
  const changed: Record<string, string> = {}
  for (const name of addresses) {
    const value = headers[name]
    if (typeof value !== 'string' || !/^\/(?!\/)/.test(value)) continue
    const [path = ''] = value.split(/[?#]/, 1)
    if (path !== basePath && !path.startsWith(`${basePath}/`)) changed[name] = basePath + value
  }
  return { ...headers, ...changed }
}

/** Prevents browsers from treating the response as a page of this site. */
const sandbox = { 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' }

/** Files may have been uploaded by someone else. */
function hasTrustedHtml({ html }: ManifestMethod, explicit: ExplicitResponse | undefined): boolean {
  return html === 'trusted' && explicit?.isFile !== true
}

/**
 * Makes the function that adds headers for responses that a browser may display. The action's headers take precedence, except
 * for the sandbox if its HTML is not trusted.
 */
function makeBrowserHeaders(pageHeaders: SendSources['pageHeaders']) {
  const { 'cross-origin-embedder-policy': _, ...headers } = pageHeaders
  return (reply: FastifyReply, isTrusted: boolean): void => {
    const { raw } = reply
    if (raw instanceof LeanResponse) raw.baseHeaders = headers
    else for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) reply.header(name, value)
    if (!isTrusted) reply.headers(sandbox)
    // Other policies would let a page keep a reference to a window of the login pages, the backend or the portal on the
    // same origin, and read passwords and tokens.
    reply.header('cross-origin-opener-policy', 'same-origin')
    if (reply.hasHeader('cross-origin-embedder-policy')) reply.removeHeader('cross-origin-embedder-policy')
  }
}
