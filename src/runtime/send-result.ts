import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ManifestMethod, ManifestRoute } from '../release/index.ts'
import { type ActionContext, ActionResponse } from './action-context.ts'
import { errors } from './errors.ts'
import { makeWriter, type WriteSources } from './write-result.ts'

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

/** Makes what turns a result into the answer, once its events are stored. It gives what a handler of Fastify returns. */
export function makeSender(
  sources: SendSources,
  { route, method }: { readonly route: ManifestRoute; readonly method: ManifestMethod },
): (sending: Sending) => Promise<unknown> {
  const action = 'file' in method.action ? method.action.file : `${method.method} ${route.path}`
  const write = makeWriter(sources, method, action)
  const success = Object.keys(method.responses)
    .map(Number)
    .filter((status) => status < 300)
  const usual = success.length === 0 ? 200 : Math.min(...success)

  return async ({ result, context, reply }) => {
    const given = result instanceof ActionResponse ? result : undefined
    const status = given?.status ?? usual
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw errors.WP_RUNTIME_STATUS({ action, status: String(status) })
    }
    const headers = given === undefined ? noHeaders : checkHeaders(given.headers)
    const body = given === undefined ? result : given.body
    const { payload, type, isJson } = write({ status, body, type: headers['content-type'], log: context.log })
    if (method.dispatch !== undefined && status < 300) {
      if (payload !== undefined && !isJson) throw errors.WP_RUNTIME_DISPATCH({ action, event: method.dispatch })
      context.dispatchResult(method.dispatch, payload === undefined ? null : JSON.parse(payload as string))
    }
    if (status < 400 && context.hasDispatched) await context.storeDispatched()

    if (given !== undefined) reply.headers(headers)
    if (payload === undefined) return reply.code(given === undefined && status === 200 ? 204 : status).send()
    reply.code(status).header('content-type', type)
    if (!isJson) {
      setMissing(reply, sources.pageHeaders)
      if (method.html !== 'trusted') reply.headers(sandbox)
    }
    return typeof payload === 'string' ? payload : reply.send(payload)
  }
}

const noHeaders: Readonly<Record<string, string>> = {}

/** Headers with names in lower case. @throws what Node finds wrong, before anything of the answer is set */
function checkHeaders(headers: OutgoingHttpHeaders): Readonly<Record<string, string>> {
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

/** An action's own headers stay. */
function setMissing(reply: FastifyReply, headers: SendSources['pageHeaders']): void {
  for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) reply.header(name, value)
}
