import { isDeepStrictEqual } from 'node:util'
import type { RouteOptions } from 'fastify'
import type { JsonSchema } from '../../contract/index.ts'
import type { Api, ApiMethod, ApiRoute } from './api.ts'

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Describes a route of a plugin by its Fastify schema. OpenAPI cannot describe wildcards and patterns. */
export function describeRoute(plugin: string, route: RouteOptions & { readonly path: string }): ApiRoute[] {
  const { path, config, schema: given } = route
  const schema: Readonly<Record<string, unknown>> = isRecord(given) ? given : {}
  if (/[*()]|::/.test(path) || schema['hide'] === true) return []
  const by = `Provided by the plugin ${plugin}.`
  const text = schema['description'] ?? schema['summary']
  const described: Omit<ApiMethod, 'method'> = {
    public: config?.public === true,
    scopes: config?.scopes ?? [],
    description: typeof text === 'string' ? `${text}\n\n${by}` : by,
    ...optional('params', schema['params']),
    ...optional('query', schema['querystring'] ?? schema['query']),
    ...optional('request', schema['body']),
    responses: Object.fromEntries(
      Object.entries(isRecord(schema['response']) ? schema['response'] : {}).filter(
        ([status, one]) => /^[2-5]\d\d$/.test(status) && isUsable(one),
      ),
    ) as Record<string, JsonSchema>,
  }
  return [route.method]
    .flat()
    .flatMap((method) => (methods.has(method) ? [{ path, methods: [{ ...described, method }] }] : []))
}

/** Adds routes of plugins to an API, and the scopes that they require. */
export function addRoutes(api: Api, more: readonly ApiRoute[]): Api {
  const byPath = new Map(api.routes.map((route) => [route.path, route]))
  for (const { path, methods: added } of more) {
    const route = byPath.get(path)
    byPath.set(path, { ...route, path, methods: [...(route?.methods ?? []), ...added] })
  }
  const names = more.flatMap((route) => route.methods.flatMap(({ scopes }) => scopes))
  const scopes = { ...Object.fromEntries(names.map((name) => [name, {}])), ...api.scopes }
  return { ...api, routes: [...byPath.values()], scopes }
}

function optional(key: 'params' | 'query' | 'request', value: unknown): object {
  const isObject = key === 'request' || (isRecord(value) && value['type'] === 'object')
  return isObject && isUsable(value) ? { [key]: value } : {}
}

/** Whether a value is a JSON Schema that needs no other schema. A custom compiler may accept other values. */
function isUsable(value: unknown): boolean {
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype || typeof value['type'] !== 'string')
    return false
  try {
    const text = JSON.stringify(value)
    return !text.includes('"$ref"') && isDeepStrictEqual(JSON.parse(text), value)
  } catch {
    return false
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
