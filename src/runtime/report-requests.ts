import { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { isJsonType, isProbeAgent } from '../kit/index.ts'
import type { ReceivedBody } from './bodies/body-reader.ts'
import { essenceOf } from './media/accept.ts'
import type { DroppedFields } from './report-dropped.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether another instance answers the requests of the route, and reports their errors. */
    isForwarded?: boolean
  }
  interface FastifyRequest {
    /** Reports the exchange of a stream, which is sent without hooks; only for the coverage of tests. */
    reportStream?: ((reply: FastifyReply) => void) | undefined
  }
}

/** A report about one answered request, for the console. */
export interface RequestReport {
  readonly id: string
  readonly method: string
  readonly path: string
  /** 499, as other servers log it, if the caller disconnected before a response began. */
  readonly status: number
  readonly ms: number
  readonly user: string | undefined
  /** The id of the client. */
  readonly client?: string | undefined
  /** The pattern of the route, such as `/todo/:id`. */
  readonly route?: string | undefined
  /** The code of the error, such as `WP_RUNTIME_NOT_FOUND`. */
  readonly code?: string | undefined
  /** Why the request was rejected, in a few words. */
  readonly reason: string | undefined
  /** Fields that were dropped because the schema does not declare them; only if results are checked. */
  readonly dropped: DroppedFields | undefined
  /** Why the response ended early: a stream failed, the caller disconnected, or the server cut a stream. */
  readonly aborted?: 'failed' | 'left' | 'cut' | undefined
}

/**
 * Reports each request after its response has ended, including aborted ones. Waypost's own probes and the requests of
 * its pages are left out.
 */
export function reportRequests(app: FastifyInstance, report: (answered: RequestReport) => void): void {
  const reportRequest = (request: FastifyRequest, reply: FastifyReply, aborted?: RequestReport['aborted']) => {
    if (isProbeAgent(request.headers['user-agent']) && reply.statusCode < 500) return
    if (request.routeOptions.config?.isForwarded === true) return
    report({
      id: request.id,
      method: request.method,
      path: request.url,
      status: reply.raw.headersSent ? reply.statusCode : 499,
      ms: reply.elapsedTime,
      user: request.principal?.user.name,
      client: request.principal?.client.id,
      route: request.routeOptions.url,
      code: request.code,
      reason: request.reason,
      dropped: request.dropped,
      aborted,
    })
  }
  app.addHook('onResponse', async (request, reply) => reportRequest(request, reply))
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify calls no hook for aborted responses.
    reply.raw.once('close', () => {
      if (isInternal(reply)) return // its response is closed when it ends
      const { headersSent, writableFinished, errored } = reply.raw
      if (!headersSent) reportRequest(request, reply, 'left')
      else if (!writableFinished && !errored) reportRequest(request, reply, endings.get(request) ?? 'left')
    })
    done()
  })
}

/** A request and its JSON response, for the coverage of tests. */
export interface RequestExchange {
  readonly method: string
  /** The path of the route. */
  readonly route: string
  readonly status: number
  /** The media type of the response. */
  readonly type: string
  readonly scopes: readonly string[]
  readonly query: object
  /** As it was sent, before defaults are set. */
  readonly body: unknown
  readonly result: unknown
}

/** Reports each exchange of a route. Bodies are copied, so this is for tests only. */
export function reportExchanges(app: FastifyInstance, report: (exchange: RequestExchange) => void): void {
  const sent = new WeakMap<FastifyRequest, unknown>()
  const reportExchange = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const { url: route } = request.routeOptions
    if (route === undefined) return
    const type = String(reply.getHeader('content-type') ?? '')
    const isJson = isJsonType(type) && typeof payload === 'string' && payload !== ''
    report({
      method: request.method,
      route,
      status: reply.statusCode,
      type: essenceOf(type),
      scopes: request.principal?.scopes ?? [],
      query: Object.fromEntries(new URL(request.url, 'http://localhost').searchParams),
      body: sent.get(request),
      result: isJson ? parse(payload) : undefined,
    })
  }
  app.addHook('preValidation', async (request) => {
    sent.set(request, copyOf(bodyOf(request)))
    request.reportStream = (reply) => reportExchange(request, reply, undefined)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    reportExchange(request, reply, payload)
    return payload
  })
}

/** Returns the value of a body, also of one that the reader of its method has read. */
function bodyOf({ body, routeOptions }: FastifyRequest): unknown {
  return routeOptions.config.readBody === undefined ? body : (body as ReceivedBody | undefined)?.value
}

/** Copies a body, because validation may change it. Files and streams of plugins are left out. */
function copyOf(body: unknown): unknown {
  try {
    return structuredClone(body)
  } catch {
    return undefined
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // an action sent another text as JSON
  }
}

/** Whether a request is a call within this process; see `callOperation`. */
function isInternal({ raw }: FastifyReply): boolean {
  return 'isLightMyRequest' in raw
}

/** Why streams ended early. */
const endings = new WeakMap<FastifyRequest, 'failed' | 'cut'>()

/** Notes that the server ends the stream of a request. */
export function noteCut(request: FastifyRequest): void {
  endings.set(request, 'cut')
}

/** Logs only the events that are logged nowhere else: a stream that fails after the response has begun. */
export class StreamLog extends LogController {
  readonly #onError: ((error: unknown, request: FastifyRequest) => void) | undefined

  constructor(onError?: (error: unknown, request: FastifyRequest) => void) {
    super({ disableRequestLogging: true })
    this.#onError = onError
  }

  override streamError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (reply.raw.destroyed) return // the caller disconnected
    endings.set(request, 'failed')
    this.#onError?.(error, request)
    request.log.error({ err: error }, 'response aborted')
  }
}
