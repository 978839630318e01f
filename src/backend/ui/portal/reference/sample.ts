import { resolveSchema, toSchema, type NamedSchemas, type Schema } from '../../components/named-schemas.ts'
import { kindOf, partsOf } from '../../try/body-values.ts'
import type { CodeField, SentRequest } from '../../try/write-code.ts'
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
    ...sampleBody(body, schemas),
    hasToken: !isPublic,
  }
}

function sampleBody(body: Operation['body'], schemas: NamedSchemas): Pick<SentRequest, 'body' | 'code'> {
  if (body === undefined) return { body: undefined }
  const { type } = body
  const kind = kindOf(body)
  if (kind === 'json') return { body: JSON.stringify(body.example ?? {}, null, 2) }
  if (kind === 'text') return { body: undefined, code: { kind, type, text: 'TEXT' } }
  if (kind === 'bytes') return { body: undefined, code: { kind, type, file: 'FILE' } }
  const required = partsOf(body, schemas).filter(({ isRequired }) => isRequired)
  const fields = required.map(({ name, kind: of, schema, accept = '' }): CodeField => {
    if (of === 'file' || of === 'files') return { name, file: name.toUpperCase(), type: accept.split(',')[0]! }
    return { name, text: of === 'json' ? '{}' : sampleValue(name, schema) }
  })
  return { body: undefined, code: { kind, isForm: !type.startsWith('multipart/'), fields } }
}

function sampleValue(name: string, schema: Schema): string {
  const lists = [schema['examples'], schema['enum']].filter((list) => Array.isArray(list)) as unknown[][]
  const value = schema['default'] ?? schema['const'] ?? lists[0]?.[0]
  if (value !== undefined && value !== null) return typeof value === 'string' ? value : JSON.stringify(value)
  if (schema['type'] === 'integer' || schema['type'] === 'number') return JSON.stringify(schema['minimum'] ?? 1)
  return schema['type'] === 'boolean' ? 'true' : name.toUpperCase()
}
