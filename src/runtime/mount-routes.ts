import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Action, JsonSchema, Principal } from '../contract/index.ts'
import { messageOf } from '../kit/index.ts'
import type { Manifest, ManifestMethod, ManifestRoute } from '../release/index.ts'
import { ActionResponse, makeActionContext, type ContextSources } from './action-context.ts'
import { errors } from './errors.ts'
import { deprecationHook, rateConfig, withTimeout } from './limits.ts'
import { InvalidRequest, pathOf, refuseMethod } from './problem.ts'
import type { SchemaCache, Serializer, Validator } from './schema-cache.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard on a private route, and on a public one that was called with a valid token. */
    principal: Principal | undefined
  }
}

export interface RouteSources extends ContextSources {
  readonly manifest: Manifest
  readonly schemas: SchemaCache
  readonly guard: Guard
  /** Finds the action of a method; the same answer for the whole life of a generation. */
  actionFor(method: ManifestMethod): Action
  /** Check results against their schemas before they are sent: in `dev` and in tests. */
  readonly checkResults: boolean
}

const methodNames = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Mounts the routes of a release. */
export function mountRoutes(app: FastifyInstance, sources: RouteSources): void {
  for (const route of sources.manifest.routes) {
    for (const method of route.methods) mountMethod(app, sources, { route, method })
    mountOtherMethods(app, route)
  }
}

function mountMethod(
  app: FastifyInstance,
  sources: RouteSources,
  at: { route: ManifestRoute; method: ManifestMethod },
): void {
  const { method, route } = at
  const checks = makeChecks(sources, method)
  const send = makeSender(sources, at)
  const action = sources.actionFor(method)

  app.route({
    method: method.method as HTTPMethods,
    url: route.path,
    config: rateConfig(sources.manifest, method),
    onRequest: [...deprecationHook(route.deprecated), makeAuthorization(sources.guard, method)],
    handler: async (request, reply) => {
      const input = checks(request)
      const aborter = new AbortController()
      const context = makeActionContext(sources, {
        principal: request.principal,
        log: request.log,
        signal: aborter.signal,
      })
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) aborter.abort()
      })
      const given = { method: request.method, url: request.url, headers: request.headers, ...input }
      const work = Promise.resolve(action.handle(given as never, context))
      const result = await withTimeout(work, { timeoutMs: method.timeoutMs, abort: () => aborter.abort() })
      return send({ result, context, reply })
    },
  })
}

/** The guard of a method. A public route answers whoever calls; a valid token only tells who it is. */
function makeAuthorization(guard: Guard, method: ManifestMethod) {
  if (!method.public) {
    return async (request: FastifyRequest) => {
      request.principal = await guard.authorize(request.headers.authorization, method.scopes)
    }
  }
  return async (request: FastifyRequest) => {
    if (request.headers.authorization === undefined) return
    try {
      request.principal = await guard.authorize(request.headers.authorization, [])
    } catch {
      request.principal = undefined
    }
  }
}

interface Input {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

const anyObject: JsonSchema = { type: 'object' }

/** Validation of all that came in; every part is checked before the caller is told. */
function makeChecks(sources: RouteSources, method: ManifestMethod): (request: FastifyRequest) => Input {
  const { schemas, manifest } = sources
  const compile = (schema: JsonSchema | undefined, part: 'path' | 'query' | 'body') =>
    schema === undefined ? undefined : schemas.validator(schema, manifest.schemas, part)
  const takesBody = ['POST', 'PUT', 'PATCH'].includes(method.method)
  const parts: [keyof Input, Validator | undefined][] = [
    ['params', compile(method.params, 'path')],
    ['query', compile(method.query, 'query')],
    ['body', compile(method.request ?? (takesBody ? anyObject : undefined), 'body')],
  ]
  const bodyOf = ({ body }: FastifyRequest) => {
    if (method.request !== undefined) return body
    if (!takesBody) return undefined
    return body === undefined ? {} : body
  }
  return (request) => {
    const input: Input = { params: request.params, query: request.query, body: bodyOf(request) }
    const problems = parts.flatMap(([name, check]) => check?.(input[name]) ?? [])
    if (problems.length > 0) throw new InvalidRequest(problems)
    return input
  }
}

interface Sending {
  readonly result: unknown
  readonly context: ReturnType<typeof makeActionContext>
  readonly reply: FastifyReply
}

/** Turns what an action returned into the answer, once its events are stored. */
function makeSender(sources: RouteSources, { route, method }: { route: ManifestRoute; method: ManifestMethod }) {
  const serializers = new Map<number, Serializer>()
  const validators = new Map<number, Validator>()
  for (const [status, schema] of Object.entries(method.responses)) {
    serializers.set(Number(status), sources.schemas.serializer(schema, sources.manifest.schemas))
    if (sources.checkResults)
      validators.set(Number(status), sources.schemas.validator(schema, sources.manifest.schemas, 'result'))
  }
  const success = [...serializers.keys()].filter((status) => status >= 200 && status < 300).sort((a, b) => a - b)
  const name = 'file' in method.action ? method.action.file : `${method.method} ${route.path}`
  const misfit = (status: number, reason: string, cause?: unknown) =>
    errors.WP_RUNTIME_RESULT({ action: name, status, reason }, { cause })

  function write(status: number, body: unknown): string | undefined {
    const problems = validators.get(status)?.(body)
    if (problems !== undefined) throw misfit(status, problems.map((one) => `${one.path} ${one.message}`).join('; '))
    const serialize = serializers.get(status)
    if (serialize === undefined) return body === undefined ? undefined : JSON.stringify(body)
    if (body === undefined) throw misfit(status, 'there is none')
    try {
      return serialize(body)
    } catch (cause) {
      throw misfit(status, messageOf(cause), cause)
    }
  }

  return async ({ result, context, reply }: Sending) => {
    const response = result instanceof ActionResponse ? result : new ActionResponse(success[0] ?? 200, result)
    const { status, body, headers } = response
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw errors.WP_RUNTIME_STATUS({ action: name, status: String(status) })
    const isRaw = body instanceof Readable || body instanceof Uint8Array
    const text = isRaw ? undefined : write(status, body)
    if (method.dispatch !== undefined && status < 300) context.dispatchResult(method.dispatch, body)
    if (status < 400) await context.storeDispatched()

    reply.code(status).headers(headers as Record<string, string>)
    if (!isRaw) {
      if (text === undefined) return reply.code(status === 200 ? 204 : status).send()
      return reply.header('content-type', 'application/json; charset=utf-8').send(text)
    }
    if (!reply.hasHeader('content-type')) reply.type('application/octet-stream')
    if (method.html !== 'trusted') {
      reply.header('x-content-type-options', 'nosniff').header('content-security-policy', 'sandbox')
    }
    return reply.send(body)
  }
}

/** 405 for the methods that a path does not have, also where a path with a parameter would answer them. */
function mountOtherMethods(app: FastifyInstance, route: ManifestRoute): void {
  const own = route.methods.map((method) => method.method)
  const allowed = [...own, ...(own.includes('GET') ? ['HEAD'] : [])]
  const others = methodNames.filter((method) => !own.includes(method))
  if (others.length === 0) return
  app.route({
    method: others as HTTPMethods[],
    url: route.path,
    exposeHeadRoute: false,
    config: { refusesMethod: true },
    onRequest: async (request) => {
      throw refuseMethod({ path: pathOf(request), method: request.method, allowed })
    },
    handler: async () => undefined,
  })
}
