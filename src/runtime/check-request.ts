import type { FastifyRequest } from 'fastify'
import type { JsonSchema, Request } from '../contract/index.ts'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { errors } from './errors.ts'
import { InvalidRequest, pathOf } from './problem.ts'
import type { SchemaProblem } from './compile-schema.ts'
import { getMaxSteps } from './step-budget.ts'
import type { SchemaCache } from './schema-cache.ts'

const anyObject: JsonSchema = { type: 'object' }

export interface CheckSources {
  readonly schemas: SchemaCache
  readonly manifest: Manifest
  /** Maximum number of bytes of a body. */
  readonly bodyLimit: number
}

/**
 * Makes the input check of a method. It checks every part and reports all problems together. It returns what the action
 * gets: path and query coerced, query and body with defaults.
 */
export function makeRequestCheck(
  { schemas, manifest, bodyLimit }: CheckSources,
  method: ManifestMethod,
): (request: FastifyRequest) => Request {
  const acceptsBody = ['POST', 'PUT', 'PATCH'].includes(method.method)
  const checkParams =
    method.params === undefined ? undefined : schemas.validator(method.params, manifest.schemas, 'path')
  const checkQuery = method.query === undefined ? undefined : schemas.validator(method.query, manifest.schemas, 'query')
  const bodySchema = method.request ?? (acceptsBody ? anyObject : undefined)
  const checkBody = bodySchema === undefined ? undefined : schemas.validator(bodySchema, manifest.schemas, 'body')
  const maxSteps = getMaxSteps(bodyLimit)

  const readBody = ({ body }: FastifyRequest): unknown => {
    if (method.request !== undefined) return body
    if (!acceptsBody) return undefined
    return body === undefined ? {} : body
  }
  return (request) => {
    const { params, query } = request
    if (checkParams !== undefined && hasEmpty(params as object)) {
      throw errors.WP_RUNTIME_NOT_FOUND({ path: pathOf(request) })
    }
    if (request.url.includes('%00')) throw errors.WP_RUNTIME_REQUEST({ reason: 'The URL contains a NUL character' })
    const body = readBody(request)
    let problems = checkParams?.(params)
    problems = merge(problems, checkQuery?.(query))
    problems = merge(problems, checkBody?.(body, maxSteps, request.bodyBytes))
    if (problems !== undefined) throw new InvalidRequest(problems)
    return { method: request.method, url: request.url, params, query, body, headers: request.headers }
  }
}

type Problems = readonly SchemaProblem[] | undefined

function merge(problems: Problems, more: Problems): Problems {
  return more === undefined || problems === undefined ? (more ?? problems) : [...problems, ...more]
}

/** Whether a path parameter is empty. The router matches `/todo/` as `/todo/:id` with an empty id. */
function hasEmpty(params: object): boolean {
  return Object.values(params).includes('')
}
