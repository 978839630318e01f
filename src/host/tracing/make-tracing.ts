import type { IncomingMessage, ServerResponse } from 'node:http'
import type * as Api from '@opentelemetry/api'
import type { Attributes, Span } from '@opentelemetry/api'
import { version } from '../../kit/index.ts'
import type { TracePost } from '../../outbound/index.ts'
import type { Tracing } from '../../runtime/index.ts'
import type { TraceStatement } from '../../store/index.ts'

/** Spans for everything that a server does, and the ids that its log lines contain. */
export interface ServerTracing extends Tracing {
  readonly statement: TraceStatement
  readonly post: TracePost
  /** Returns the ids of the active span, for log lines. */
  ids(): { readonly trace_id?: string; readonly span_id?: string }
}

const maxTextLength = 2000

/** Makes spans as OpenTelemetry's semantic conventions define them. They contain no values from callers or actions. */
export function makeTracing(api: typeof Api): ServerTracing {
  return { ...traceServer(api), ...traceOutgoing(api) }
}

type ServerSpans = 'request' | 'setRoute' | 'action' | 'ids'

function traceServer(api: typeof Api): Pick<ServerTracing, ServerSpans> {
  const { context, propagation, SpanKind, trace } = api
  const tracer = trace.getTracer('waypost', version)
  const fail = makeErrorMarker(api)

  function endWith(span: Span, response: ServerResponse): void {
    const { statusCode, writableFinished } = response
    span.setAttribute('http.response.status_code', statusCode)
    if (statusCode >= 500) fail(span, String(statusCode))
    else if (!writableFinished) fail(span, 'response aborted')
    span.end()
  }

  return {
    request(request, response, work) {
      const method = request.method ?? 'GET'
      const from = propagation.extract(context.active(), request.headers)
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: describe(request, method) }, from)
      response.once('close', () => endWith(span, response))
      context.with(trace.setSpan(from, span), work)
    },
    setRoute(method, route) {
      trace.getActiveSpan()?.updateName(`${method} ${route}`).setAttribute('http.route', route)
    },
    action(name, work) {
      return tracer.startActiveSpan(`action ${name}`, (span) => {
        const failed = (error: unknown): never => {
          fail(span, nameOf(error)).end()
          throw error
        }
        try {
          const result = work()
          if (!(result instanceof Promise)) {
            span.end()
            return result
          }
          return result.then((value: unknown) => {
            span.end()
            return value
          }, failed) as typeof result
        } catch (error) {
          return failed(error)
        }
      })
    },
    ids() {
      const span = trace.getActiveSpan()?.spanContext()
      return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }
    },
  }
}

function traceOutgoing(api: typeof Api): Omit<ServerTracing, ServerSpans> {
  const { context, propagation, SpanKind, trace } = api
  const tracer = trace.getTracer('waypost', version)
  const fail = makeErrorMarker(api)
  return {
    statement({ system, text, ms, error }) {
      if (trace.getActiveSpan() === undefined) return // skip the periodic queries of the server itself
      const name = /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? 'statement'
      const attributes = {
        'db.system.name': system,
        'db.operation.name': name,
        'db.query.text': text.slice(0, maxTextLength),
      }
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime: Date.now() - ms })
      if (error !== undefined) fail(span, nameOf(error))
      span.end()
    },
    async post({ host, event }, send) {
      const attributes = {
        'http.request.method': 'POST',
        'server.address': host,
        ...(event && { 'waypost.event': event }),
      }
      const span = tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes })
      const headers: Record<string, string> = {}
      propagation.inject(trace.setSpan(context.active(), span), headers)
      const result = await send(headers)
      if (result.status !== undefined) span.setAttribute('http.response.status_code', result.status)
      if (result.status === undefined || result.status >= 400) fail(span, String(result.status ?? 'no response'))
      span.end()
      return result
    },
  }
}

function makeErrorMarker({ SpanStatusCode }: typeof Api) {
  return (span: Span, type: string) => span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type)
}

/** Describes a request by its path. The query string may contain secrets. */
function describe(request: IncomingMessage, method: string): Attributes {
  return {
    'http.request.method': method,
    'url.path': (request.url ?? '').split('?')[0]!.slice(0, maxTextLength),
    'url.scheme': 'http',
  }
}

function nameOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'error'
}
