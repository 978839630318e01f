import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface RouteForPages {
  readonly method: 'GET' | 'POST'
  readonly url: string
  handler(request: FastifyRequest, reply: FastifyReply): Promise<unknown>
}

/**
 * Mounts an endpoint that pages of any origin may call (CORS): a client without a secret runs in a browser, and nothing
 * here goes by cookies. The setting `cors` has no say: it is about the project's routes.
 */
export function mountForPages(app: FastifyInstance, { method, url, handler }: RouteForPages): void {
  const methods = method === 'GET' ? (['GET', 'HEAD'] as const) : (['POST'] as const)
  app.route({
    method: [...methods],
    url,
    exposeHeadRoute: false,
    onRequest: (_request, reply, done) => {
      allowPages(reply)
      done()
    },
    handler,
  })
  app.options(url, async (request, reply) => {
    if (request.headers['access-control-request-method'] !== undefined) {
      allowPages(reply)
      reply.headers({
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': 'authorization, *', // the wildcard does not stand for Authorization
        'access-control-max-age': '600',
      })
    }
    return reply
      .code(204)
      .header('allow', [...methods, 'OPTIONS'].join(', '))
      .send()
  })
}

function allowPages(reply: FastifyReply): void {
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' })
}
