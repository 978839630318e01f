import type { IncomingMessage, ServerResponse } from 'node:http'
import type * as Api from '@opentelemetry/api'
import type { Attributes, Span } from '@opentelemetry/api'
import { version } from '../../kit/index.ts'
import type { TracePost } from '../../outbound/index.ts'
import type { Tracing } from '../../runtime/index.ts'
import type { TraceStatement } from '../../store/index.ts'

/** Spans for all that a server does, and the ids by which its log is found. */
export interface ServerTracing extends Tracing {
  readonly statement: TraceStatement
  readonly post: TracePost
  /** The ids of what is worked on, for a line of the log. */
  ids(): { readonly trace_id?: string; readonly span_id?: string }
}

const longestText = 2000

/** Makes spans by the semantic conventions of OpenTelemetry. No value that a caller or an action gave goes into one. */
export function makeTracing(api: typeof Api): ServerTracing {
  return { ...traceInside(api), ...traceOutside(api) }
}

type Inside = 'request' | 'found' | 'action' | 'ids'

function traceInside(api: typeof Api): Pick<ServerTracing, Inside> {
  const { context, propagation, SpanKind, trace } = api
  const tracer = trace.getTracer('waypost', version)
  const fail = makeFail(api)

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
    found(method, route) {
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

function traceOutside(api: typeof Api): Omit<ServerTracing, Inside> {
  const { context, propagation, SpanKind, trace } = api
  const tracer = trace.getTracer('waypost', version)
  const fail = makeFail(api)
  return {
    statement({ system, text, ms, error }) {
      if (trace.getActiveSpan() === undefined) return // what a server asks by itself, many times a minute
      const name = /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? 'statement'
      const attributes = {
        'db.system.name': system,
        'db.operation.name': name,
        'db.query.text': text.slice(0, longestText),
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

function makeFail({ SpanStatusCode }: typeof Api) {
  return (span: Span, type: string) => span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type)
}

/** The path of an address, but not its query, in which secrets may stand. */
function describe(request: IncomingMessage, method: string): Attributes {
  return {
    'http.request.method': method,
    'url.path': (request.url ?? '').split('?')[0]!.slice(0, longestText),
    'url.scheme': 'http',
  }
}

function nameOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'error'
}
