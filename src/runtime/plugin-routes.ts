import { fastify, type FastifyInstance, type RouteOptions } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { PluginHost } from '../contract/index.ts'
import { findReservedPath, isWaypostError, safeMessageOf, withDeadline } from '../kit/index.ts'
import { pluginErrors as errors, type LoadedPlugin, type ServicesOf } from '../plugin/index.ts'
import type { Manifest } from '../release/index.ts'
import { makeAuthorizationHook, type RouteAccess } from './authorization.ts'
import type { ApiRoute } from './openapi/api.ts'
import { describeRoute } from './openapi/describe-plugin-route.ts'
import type { Endpoint } from './generation.ts'
import { preparePluginContext, type PluginContext } from './plugin-context.ts'

/** A plugin and what a generation provides to it. */
export interface HostedPlugin {
  readonly loaded: LoadedPlugin
  readonly host: PluginHost
}

const routesMs = 10_000
const hookMs = 5000

/** The routes of plugins, and their description for OpenAPI, which is complete when they are mounted. */
export interface PluginRoutes {
  readonly mount: Endpoint
  readonly described: readonly ApiRoute[]
  /** The scopes that they require. */
  readonly scopes: ReadonlySet<string>
}

/**
 * Mounts the routes of plugins, each in a context of its own. Callers are authorized before code of the plugin runs.
 * @param manifest the release, whose routes plugins must not register too
 * @throws WP_PLUGIN_ROUTES, WP_PLUGIN_ROUTE_ACCESS, WP_PLUGIN_PATH, WP_PLUGIN_ROUTE_TWICE, WP_PLUGIN_TIMEOUT
 */
export function mountPluginRoutes(
  guard: Guard,
  plugins: readonly HostedPlugin[],
  manifest: Pick<Manifest, 'routes'> | undefined,
): PluginRoutes {
  const owners = ownersOf(manifest?.routes ?? [])
  const described: ApiRoute[] = []
  const scopes = new Set<string>()
  const mount: Endpoint = async (app) => {
    for (const { loaded, host } of plugins) {
      const { name, routes } = loaded.plugin
      if (routes === undefined) continue
      const registered: { readonly route: RegisteredRoute; readonly context: FastifyInstance }[] = []
      let contexts: PluginContext | undefined
      await app.register(async (own) => {
        contexts = preparePluginContext(own)
        own.addHook('onRoute', function (route) {
          assertAccess(name, route)
          claimRoute(name, route, owners)
          registered.push({ route, context: this })
          for (const scope of route.config?.scopes ?? []) scopes.add(scope)
        })
        own.addHook('onRequest', (request, reply, done) => {
          if (request.is404) return done()
          const { public: isPublic = false, scopes = [] } = request.routeOptions.config
          const access: RouteAccess = { public: isPublic, scopes }
          return makeAuthorizationHook(guard, access).call(own, request, reply, done)
        })
        // Within a context of its own, in which the plugin can set an error handler
        await own.register((context) => runRoutes(context, { loaded, host }))
      })
      for (const { route, context } of registered)
        described.push(...describeRoute(name, route, contexts!.typesOf(context)))
    }
  }
  return { mount, described, scopes }
}

/** A method of a route that a plugin registers. */
export interface PluginRoute {
  readonly plugin: string
  readonly method: string
  readonly path: string
  readonly public: boolean
  /** A token needs one of these scopes; an empty list accepts any valid token. */
  readonly scopes: readonly string[]
}

/**
 * Lists the routes of plugins without serving them. Plugins get no connections.
 * @param onError called for each plugin whose routes cannot be listed, with a Waypost error
 */
export async function listPluginRoutes(
  plugins: readonly LoadedPlugin[],
  { servicesOf, routes, onError }: ListPluginRoutesOptions,
): Promise<readonly PluginRoute[]> {
  const owners = ownersOf(routes)
  const found: PluginRoute[] = []
  for (const loaded of plugins) {
    const { name: plugin } = loaded.plugin
    if (loaded.plugin.routes === undefined) continue
    const app = fastify()
    const own: PluginRoute[] = []
    app.addHook('onRoute', (route) => {
      assertAccess(plugin, route)
      claimRoute(plugin, route, owners)
      const { public: isPublic = false, scopes = [] } = route.config ?? {}
      const methods = [route.method].flat().filter((method) => method !== 'HEAD')
      own.push(...methods.map((method) => ({ plugin, method, path: route.path, public: isPublic, scopes })))
    })
    try {
      const host = {
        ...servicesOf(loaded),
        release: { id: '' },
        connection: unavailable,
        databases: {},
        call: async () => unavailable(),
      }
      await app.register((context) => runRoutes(context, { loaded, host }))
      found.push(...own)
    } catch (error) {
      onError(isWaypostError(error) ? error : errors.WP_PLUGIN_ROUTES({ name: plugin, reason: safeMessageOf(error) }))
    } finally {
      await app.close()
    }
  }
  return found
}

export interface ListPluginRoutesOptions {
  readonly servicesOf: ServicesOf
  /** The routes of the project, which plugins must not register too. */
  readonly routes: ProjectRoutes
  onError(error: Error): void
}

type ProjectRoutes = readonly { readonly path: string; readonly methods: readonly { readonly method: string }[] }[]

function unavailable(): never {
  throw new Error('Connections and operations are only available on a server')
}

function ownersOf(routes: ProjectRoutes): Map<string, string> {
  const keys = routes.flatMap(({ path, methods }) => methods.map(({ method }) => routeKey(method, path)))
  return new Map(keys.map((key) => [key, 'the project']))
}

/** @throws WP_PLUGIN_ROUTES, WP_PLUGIN_TIMEOUT */
async function runRoutes(app: FastifyInstance, { loaded: { plugin }, host }: HostedPlugin): Promise<void> {
  const { name } = plugin
  const late = () => {
    throw errors.WP_PLUGIN_TIMEOUT({ name, what: 'registering its routes', seconds: routesMs / 1000 })
  }
  try {
    await withDeadline((async () => plugin.routes!(app, host))(), routesMs, late)
  } catch (cause) {
    if (isWaypostError(cause)) throw cause
    throw errors.WP_PLUGIN_ROUTES({ name, reason: safeMessageOf(cause) }, { cause })
  }
}

/** Every route names who may call it, so that a route without authorization cannot be a mistake. */
function assertAccess(name: string, { method, url, config }: RouteOptions): void {
  const isPublic = config?.public === true
  if (isPublic !== Array.isArray(config?.scopes)) return
  throw errors.WP_PLUGIN_ROUTE_ACCESS({ name, method: [method].flat().join(', '), path: url })
}

type RegisteredRoute = RouteOptions & { readonly path: string }

/** Of the reserved paths only `/mcp` is open to plugins. */
function claimRoute(name: string, { method, url, path }: RegisteredRoute, owners: Map<string, string>): void {
  for (const one of [method].flat()) {
    if (one === 'HEAD') continue // Fastify adds it to every GET
    const reserved = findReservedPath(path)
    if (reserved !== undefined && reserved !== '/mcp') throw errors.WP_PLUGIN_PATH({ name, method: one, path: url })
    const key = routeKey(one, path)
    const first = owners.get(key)
    if (first !== undefined)
      throw errors.WP_PLUGIN_ROUTE_TWICE({ method: one, path: url, first, second: `the plugin "${name}"` })
    owners.set(key, `the plugin "${name}"`)
  }
}

/** The router does not distinguish the names of parameters. */
function routeKey(method: string, path: string): string {
  return `${method} ${path
    .replaceAll(/:[^/]+/g, ':')
    .replace(/\*\w+$/, '*')
    .replace(/(?<=.)\/$/, '')}`
}

/**
 * Runs a hook of plugins. One that fails is reported, and the others still run.
 * @param onError called with a Waypost error
 */
export async function runPluginHooks(
  plugins: readonly HostedPlugin[],
  hook: 'generation:ready' | 'generation:closed',
  onError: (error: Error) => void,
): Promise<void> {
  await Promise.all(
    plugins.map(async ({ loaded: { plugin }, host }) => {
      const { name, hooks } = plugin
      const run = hooks?.[hook]
      if (run === undefined) return
      const late = () => {
        throw errors.WP_PLUGIN_TIMEOUT({ name, what: `its hook ${hook}`, seconds: hookMs / 1000 })
      }
      try {
        await withDeadline((async () => run.call(hooks, host))(), hookMs, late)
      } catch (cause) {
        onError(
          isWaypostError(cause)
            ? cause
            : errors.WP_PLUGIN_HOOK({ name, hook, reason: safeMessageOf(cause) }, { cause }),
        )
      }
    }),
  )
}
