import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ManifestMethod, ManifestRoute } from '../release/index.ts'
import { type ActionContext, ActionResponse } from './action-context.ts'
import { errors } from './errors.ts'
import { discardResult } from './raw-body.ts'
import { makeWriter, type WriteSources, type Written } from './write-result.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Fields of the result that did not go out, where results are checked. */
    dropped: Dropped | undefined
  }
}

/** What an action returned beyond its schema; `fields` are JSON pointers without the first slash. */
export interface Dropped {
  readonly action: string
  readonly fields: readonly string[]
}

export interface SendSources extends WriteSources {
  /** Headers of answers that a browser may show. */
  readonly pageHeaders: Readonly<Record<string, string>>
}

/** What an action returned, and where it goes. */
export interface Sending {
  readonly result: unknown
  readonly context: ActionContext
  readonly reply: FastifyReply
}

/** Sends what an action returned. @returns a promise where its events have to be stored before the answer goes out */
export type Sender = (sending: Sending) => Promise<void> | undefined

/** Makes what turns a result into the answer. */
export function makeSender(
  sources: SendSources,
  { route, method }: { readonly route: ManifestRoute; readonly method: ManifestMethod },
): Sender {
  const action = 'file' in method.action ? method.action.file : `${method.method} ${route.path}`
  const write = makeWriter(sources, method, action)
  const success = Object.keys(method.responses)
    .map(Number)
    .filter((status) => status < 300)
  const usual = success.length === 0 ? 200 : Math.min(...success)
  const ofNothing = success.includes(204) ? 204 : usual
  const isSafe = method.method === 'GET' // an action that changes something has done so by now
  const dispatch = makeResultDispatch(method, action)
  const answer = makeAnswer(method, sources.pageHeaders)

  const sendNow = ({ result, context, reply }: Sending): Promise<void> | undefined => {
    const given = result instanceof ActionResponse ? checkResponse(result, action) : undefined
    const status = given?.status ?? (result === undefined ? ofNothing : usual)
    const body = given === undefined ? result : given.body
    const written = write({ status, body, type: given?.headers['content-type'] })
    if (written.dropped !== undefined) tellDropped(reply, action, written.dropped)
    if (isSafe && success.includes(status) && written.payload !== undefined) assertAcceptable(reply.request, written)
    if (status < 300) dispatch?.(context, written)
    if (written.payload === undefined) discardResult(body)
    if (status >= 400 || !context.hasDispatched) return answer(reply, { status, written, given })
    return context.storeDispatched().then(() => answer(reply, { status, written, given }))
  }

  return (sending) => {
    const fail = (error: unknown): never => {
      discardResult(sending.result)
      throw error
    }
    try {
      return sendNow(sending)?.catch(fail)
    } catch (error) {
      return fail(error)
    }
  }
}

interface Ready {
  readonly status: number
  readonly written: Written
  readonly given: Given | undefined
}

function makeAnswer(method: ManifestMethod, pageHeaders: SendSources['pageHeaders']) {
  return (reply: FastifyReply, { status, written, given }: Ready): undefined => {
    if (given !== undefined) reply.headers(given.headers)
    const { payload, type, isJson } = written
    if (payload === undefined) {
      reply.code(given === undefined && status === 200 ? 204 : status).send()
      return
    }
    reply.code(status).header('content-type', type)
    if (!isJson) harden(reply, method, pageHeaders)
    if (payload instanceof Readable && reply.request.method === 'HEAD') {
      payload.destroy()
      reply.send()
    } else reply.send(payload)
  }
}

/**
 * What the action chose to answer with is all there is, so that only a declared response can be refused beforehand.
 * @throws WP_RUNTIME_NOT_ACCEPTABLE for a caller who does not take what it is answered with
 */
function assertAcceptable({ headers: { accept } }: FastifyRequest, { type }: Written): void {
  if (accept === undefined || accept === '*/*' || accepts(accept, type)) return
  throw errors.WP_RUNTIME_NOT_ACCEPTABLE({ type: type.split(';', 1)[0]! })
}

function tellDropped({ request }: FastifyReply, action: string, fields: readonly string[]): void {
  request.dropped = { action, fields }
  request.log.warn({ action, dropped: fields }, 'result has fields that are not in its schema')
}

/** Dispatches what callers get, so that subscribers learn no more than they do. */
function makeResultDispatch({ dispatch: event }: ManifestMethod, action: string) {
  if (event === undefined) return undefined
  return (context: ActionContext, { payload, isJson }: Written): void => {
    if (payload !== undefined && !isJson) throw errors.WP_RUNTIME_DISPATCH({ action, event })
    context.dispatchResult(event, payload === undefined ? null : JSON.parse(payload as string))
  }
}

type CheckedHeaders = Readonly<Record<string, string>>

interface Given {
  readonly status: number
  readonly body: unknown
  readonly headers: CheckedHeaders
}

/** What `context.respond` was given. @throws WP_RUNTIME_STATUS, or what Node finds wrong with a header */
function checkResponse({ status, body, headers }: ActionResponse, action: string): Given {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw errors.WP_RUNTIME_STATUS({ action, status: String(status) })
  }
  return { status, body, headers: checkHeaders(headers) }
}

/** Headers with names in lower case, checked before anything of the answer is set. */
function checkHeaders(headers: OutgoingHttpHeaders): CheckedHeaders {
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    validateHeaderName(name)
    for (const one of [value].flat()) validateHeaderValue(name, String(one))
    checked[name.toLowerCase()] = value as string // Fastify takes numbers and lists too
  }
  return checked
}

/** What a browser must not take for a page of this site. */
const sandbox = { 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' }

/** Headers of an answer that a browser may show; those of the action stay, unless it is not trusted with them. */
function harden(reply: FastifyReply, { html }: ManifestMethod, headers: SendSources['pageHeaders']): void {
  for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) reply.header(name, value)
  if (html !== 'trusted') reply.headers(sandbox)
}

/** Whether the header Accept takes a content type (RFC 9110 §12.5.1): the range that names it most closely decides. */
export function accepts(header: string, type: string): boolean {
  const essence = type.split(';', 1)[0]!.trim().toLowerCase()
  let closest = { closeness: 0, isTaken: false }
  let hasRange = false
  for (const range of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (!name.includes('/')) continue
    hasRange = true
    const closeness = measure(name, essence)
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2)
    if (closeness > closest.closeness) closest = { closeness, isTaken: quality === undefined || Number(quality) !== 0 }
  }
  return !hasRange || closest.isTaken // what is no list of ranges asks for nothing
}

/** 0 where a range does not name a type. */
function measure(range: string, essence: string): number {
  if (range === essence) return 4
  if (range === 'application/json' && essence.endsWith('+json')) return 3
  if (range === `${essence.split('/', 1)[0]}/*`) return 2
  return range === '*/*' ? 1 : 0
}
