import type { RouteOptions } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Plugin } from '../contract/index.ts'
import { makeAuthorizationHook, type RouteAccess } from './authorization.ts'
import { errors } from './errors.ts'
import type { Endpoint } from './generation.ts'

/**
 * Mounts the routes of a plugin behind the guard. Each route declares in its `config` who may call it; this is checked
 * before any hook of the plugin.
 * @throws WP_RUNTIME_PLUGIN_ROUTE when a route without a declaration is mounted
 */
export function mountPluginRoutes(guard: Guard, plugin: Plugin): Endpoint {
  const { name, routes } = plugin
  return async (app) => {
    if (routes === undefined) return
    app.addHook('onRoute', (route) => assertAccess(name, route))
    app.addHook('onRequest', (request, reply, done) => {
      if (request.is404) return done()
      const { public: isPublic = false, scopes = [] } = request.routeOptions.config
      const access: RouteAccess = { public: isPublic, scopes }
      return makeAuthorizationHook(guard, access).call(app, request, reply, done)
    })
    await app.register(routes)
  }
}

/** Routes are private by default and private routes must name scopes, so that a forgotten declaration is found. */
function assertAccess(plugin: string, { method, url, config }: RouteOptions): void {
  const isPublic = config?.public === true
  if (isPublic !== Array.isArray(config?.scopes)) return
  throw errors.WP_RUNTIME_PLUGIN_ROUTE({ plugin, method: [method].flat().join(', '), path: url })
}
