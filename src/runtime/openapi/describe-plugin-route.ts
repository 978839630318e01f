import { isDeepStrictEqual } from 'node:util'
import type { RouteOptions } from 'fastify'
import type { JsonSchema } from '../../contract/index.ts'
import type { Api, ApiMethod, ApiRoute } from './api.ts'

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Describes a route of a plugin by its Fastify schema. OpenAPI cannot describe wildcards and patterns.
 * @param types the media types that its context can parse
 */
export function describeRoute(
  plugin: string,
  route: RouteOptions & { readonly path: string },
  types: readonly string[],
): ApiRoute[] {
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
    consumes: listConsumed(schema, types),
    ...(isTexts(schema['produces']) ? { produces: schema['produces'] } : {}),
    responses: Object.fromEntries(
      Object.entries(isRecord(schema['response']) ? schema['response'] : {})
        .map(([status, one]) => [status.replace(/xx$/i, 'XX'), contentOf(one)['application/json'] ?? one] as const)
        .filter(([status, one]) => /^(?:[2-5]\d\d|4XX|5XX|default)$/.test(status) && isUsable(one)),
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

/** By media type in Fastify's schema of the body, by `consumes` as in `@fastify/swagger`, or whatever can be parsed. */
function listConsumed(schema: Readonly<Record<string, unknown>>, types: readonly string[]) {
  const byType = Object.entries(contentOf(schema['body']))
  if (byType.length > 0)
    return Object.fromEntries(byType.map(([type, one]) => [type, isUsable(one) ? (one as JsonSchema) : {}]))
  const { consumes } = schema
  return Object.fromEntries((isTexts(consumes) ? consumes : types).map((type) => [type, undefined]))
}

/** The schemas of a body or response by media type. */
function contentOf(schema: unknown): Readonly<Record<string, unknown>> {
  const content = isRecord(schema) && isRecord(schema['content']) ? schema['content'] : {}
  return Object.fromEntries(
    Object.entries(content).flatMap(([type, one]) => (isRecord(one) ? [[type, one['schema']]] : [])),
  )
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
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
