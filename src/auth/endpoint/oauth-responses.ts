import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isContention, isWaypostError } from '../../kit/index.ts'
import { OAuthError } from '../errors.ts'

/** Responses of OAuth2 endpoints are never cached, and their errors have the form of RFC 6749 §5.2. */
export function configureOAuthResponses(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
  })
  app.setErrorHandler((error: unknown, request, reply) => {
    if (error instanceof OAuthError) return send(reply, error)
    const status = statusOf(error)
    if (status === 429) return send(reply, unavailable(error, (error as Error).message))
    if (status < 500) return send(reply, new OAuthError('invalid_request', describe(error, status), { cause: error }))
    request.log[status === 503 ? 'warn' : 'error']({ err: error }, 'authorization request failed')
    const description = `Internal server error, logged as request ${request.id}`
    if (status !== 503) return send(reply, new OAuthError('server_error', description, { status: 500 }))
    return send(reply, unavailable(error, description))
  })
}

/** Responds with 405 in the form of RFC 6749, for endpoints that accept forms. */
export function rejectOtherMethods(app: FastifyInstance, url: string): void {
  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
    url,
    exposeHeadRoute: false,
    config: { rejectsMethod: true },
    onRequest: async () => {
      throw new OAuthError('invalid_request', 'Use POST', { status: 405, headers: { allow: 'POST' } })
    },
    handler: async () => undefined,
  })
}

/**
 * RFC 6749 defines `temporarily_unavailable` only for the authorization endpoint; the token endpoint has no such code.
 */
function unavailable(error: unknown, description: string): OAuthError {
  const seconds = isWaypostError(error) ? error.retryAfterSeconds : undefined
  const headers = { 'retry-after': String(seconds ?? 1) }
  return new OAuthError('temporarily_unavailable', description, { status: statusOf(error), headers })
}

function send(reply: FastifyReply, { status, headers, error, message }: OAuthError) {
  reply.request.reason = `${error}: ${message}`
  return reply.code(status).headers(headers).send({ error, error_description: message })
}

/** Returns the status of errors of Waypost and Fastify, 503 if others were changing the same data, and 500 for all others. */
function statusOf(error: unknown): number {
  if (isContention(error)) return 503
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
  const known = isWaypostError(error) ? status : statusCode
  return typeof known === 'number' && known >= 400 ? known : 500
}

function describe(error: unknown, status: number): string {
  return status === 415 ? 'The body must be application/x-www-form-urlencoded' : (error as Error).message
}

export interface CrossOriginRoute {
  readonly method: 'GET' | 'POST'
  readonly url: string
  handler(request: FastifyRequest, reply: FastifyReply): Promise<unknown>
}

/**
 * Mounts an endpoint that pages of any origin may call (CORS), because public clients run in browsers and no cookies
 * are used. The setting `cors` applies to the project's routes only.
 */
export function mountCrossOrigin(app: FastifyInstance, { method, url, handler }: CrossOriginRoute): void {
  const methods = method === 'GET' ? (['GET', 'HEAD'] as const) : (['POST'] as const)
  app.route({
    method: [...methods],
    url,
    exposeHeadRoute: false,
    onRequest: (_request, reply, done) => {
      allowAnyOrigin(reply)
      done()
    },
    handler,
  })
  app.options(url, async (request, reply) => {
    if (request.headers['access-control-request-method'] !== undefined) {
      allowAnyOrigin(reply)
      reply.headers({
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': 'authorization, *', // the wildcard does not include Authorization
        'access-control-max-age': '600',
      })
    }
    return reply
      .code(204)
      .header('allow', [...methods, 'OPTIONS'].join(', '))
      .send()
  })
}

function allowAnyOrigin(reply: FastifyReply): void {
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' })
}
