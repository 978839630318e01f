import type { RouteOptions } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Plugin } from '../contract/index.ts'
import { makeAuthorization, type Access } from './authorization.ts'
import { errors } from './errors.ts'
import type { Endpoint } from './generation.ts'

/**
 * The routes of a plugin behind the guard: each says in its `config` who may call it, before any hook of the plugin runs.
 * @throws WP_RUNTIME_PLUGIN_ROUTE, when it is mounted, for a route that does not say it
 */
export function mountPluginRoutes(guard: Guard, plugin: Plugin): Endpoint {
  const { name, routes } = plugin
  return async (app) => {
    if (routes === undefined) return
    app.addHook('onRoute', (route) => assertAccess(name, route))
    app.addHook('onRequest', (request, reply, done) => {
      if (request.is404) return done()
      const { public: isPublic = false, scopes = [] } = request.routeOptions.config
      const access: Access = { public: isPublic, scopes }
      return makeAuthorization(guard, access).call(app, request, reply, done)
    })
    await app.register(routes)
  }
}

/** What nobody opened stays closed, and what is closed names its scopes: a route that was forgotten is found here. */
function assertAccess(plugin: string, { method, url, config }: RouteOptions): void {
  const isPublic = config?.public === true
  if (isPublic !== Array.isArray(config?.scopes)) return
  throw errors.WP_RUNTIME_PLUGIN_ROUTE({ plugin, method: [method].flat().join(', '), path: url })
}
