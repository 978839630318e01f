import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { csvType, linesType } from './describe.ts'
import type { BuiltInRoute, RouteTable } from './route.ts'

/** Mounts a table of built-in endpoints. Their responses are personal, so they must not be cached. */
export function mountBuiltIn<Route extends BuiltInRoute>(
  app: FastifyInstance,
  routes: readonly Route[],
  table: RouteTable<Route>,
): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  for (const route of routes) {
    if (route.csv === 'body') void app.register(async (scope) => mountUpload(scope, route, table))
    else mountRoute(app, route, table)
  }
}

/** Mounts a route that takes only CSV files, which are not parsed here. */
function mountUpload<Route extends BuiltInRoute>(app: FastifyInstance, route: Route, table: RouteTable<Route>): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(csvType, (_request, payload, done) => done(null, payload))
  mountRoute(app, route, table)
}

function mountRoute<Route extends BuiltInRoute>(app: FastifyInstance, route: Route, table: RouteTable<Route>): void {
  const { method, path, params, query, body, lines, csv, status = 200, bodyLimit = table.bodyLimit } = route
  const hasBody = route.response !== undefined || lines !== undefined || csv === 'response'
  const [usual] = typeof status === 'number' ? [status] : status
  const authorize = async (request: FastifyRequest, reply: FastifyReply) => table.authorize(route, request, reply)
  const strict = table.hasStrictQuery === true ? { type: 'object', additionalProperties: false } : undefined
  const querystring = query ?? strict
  app.route({
    method,
    url: `${table.prefix}${path}`,
    bodyLimit,
    exposeHeadRoute: method === 'GET' && lines === undefined && csv === undefined, // a stream would begin and never end
    ...(table.config === undefined ? {} : { config: table.config }),
    onRequest: authorize,
    // A caller can send the body a minute later. Meanwhile, the token may have been revoked.
    async preHandler(request, reply) {
      return request.body === undefined ? undefined : authorize(request, reply)
    },
    schema: {
      ...(params === undefined ? {} : { params }),
      ...(querystring === undefined ? {} : { querystring }),
      ...(body === undefined ? {} : { body }),
    },
    async handler(request, reply) {
      const input = {
        params: request.params,
        query: request.query,
        body: request.body,
        authorizeAgain: csv === 'body' ? () => authorize(request, reply) : undefined,
      }
      reply.code(hasBody ? usual : 204)
      try {
        const result = await route.handle({ ...table.makeCall(request, reply), ...input } as never)
        if (lines !== undefined) reply.type(linesType)
        if (csv === 'response') reply.type(`${csvType}; charset=utf-8`)
        return await reply.send(result)
      } catch (error) {
        if (table.sendError === undefined) throw error
        return table.sendError(route, error, reply)
      }
    },
  })
}
