import { resolveSchema, toSchema, type NamedSchemas, type Schema } from '../../components/named-schemas.ts'
import type { SentRequest } from '../../try/write-code.ts'
import type { Operation } from './read-openapi.ts'

interface SampleSources {
  readonly baseUrl: string
  readonly schemas: NamedSchemas
}

/** Makes a request to copy, with the required parameters. What readers must replace is in upper case. */
export function sampleOf(operation: Operation, { baseUrl, schemas }: SampleSources): SentRequest {
  const { method, path, isPublic, pathParameters, query, headers, body } = operation
  const parameters = toSchema(pathParameters['properties'])
  const filled = path.replaceAll(/[:*](\w+)/g, (_whole, name: string) =>
    encodeURIComponent(sampleValue(name, resolveSchema(parameters[name], schemas))),
  )
  const required = (query['required'] ?? []) as readonly string[]
  const search = new URLSearchParams(
    required.map((name): [string, string] => [
      name,
      sampleValue(name, resolveSchema(toSchema(query['properties'])[name], schemas)),
    ]),
  ).toString()
  return {
    method,
    url: `${baseUrl}${filled}${search === '' ? '' : `?${search}`}`,
    headers: ((headers['required'] ?? []) as readonly string[]).map((name) => [name, name.toUpperCase()] as const),
    body: body === undefined ? undefined : JSON.stringify(body.example ?? {}, null, 2),
    hasToken: !isPublic,
  }
}

function sampleValue(name: string, schema: Schema): string {
  const lists = [schema['examples'], schema['enum']].filter((list) => Array.isArray(list)) as unknown[][]
  const value = schema['default'] ?? schema['const'] ?? lists[0]?.[0]
  if (value !== undefined && value !== null) return typeof value === 'string' ? value : JSON.stringify(value)
  if (schema['type'] === 'integer' || schema['type'] === 'number') return JSON.stringify(schema['minimum'] ?? 1)
  return schema['type'] === 'boolean' ? 'true' : name.toUpperCase()
}
