import type { JsonSchema, Request } from '../contract/index.ts'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import type { ReceivedBody } from './bodies/body-reader.ts'
import { needsReader } from './bodies/mount-content.ts'
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

/** A request that arrived, or the call of a method within this process. */
export interface RequestToCheck extends Pick<Request, 'method' | 'url' | 'headers'> {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** The length of the JSON text of the body. */
  readonly bodyBytes: number | undefined
}

/**
 * Makes the input check of a method. It checks every part and reports all problems together. It returns what the action
 * gets: path and query coerced, query and body with defaults.
 */
export function makeRequestCheck(
  { schemas, manifest, bodyLimit }: CheckSources,
  method: ManifestMethod,
): (request: RequestToCheck) => Request {
  const acceptsBody = ['POST', 'PUT', 'PATCH'].includes(method.method)
  const checkParams =
    method.params === undefined ? undefined : schemas.validator(method.params, manifest.schemas, 'path')
  const checkQuery = method.query === undefined ? undefined : schemas.validator(method.query, manifest.schemas, 'query')
  const bodySchema = method.request ?? (acceptsBody ? anyObject : undefined)
  const checkBody = bodySchema === undefined ? undefined : schemas.validator(bodySchema, manifest.schemas, 'body')
  const maxSteps = getMaxSteps(method.bodyLimit ?? bodyLimit)

  const checkAddress = (request: RequestToCheck): Problems => {
    const { params, query } = request
    if (checkParams !== undefined && hasEmpty(params as object)) {
      throw errors.WP_RUNTIME_NOT_FOUND({ path: pathOf(request) })
    }
    if (request.url.includes('%00')) throw errors.WP_RUNTIME_REQUEST({ reason: 'The URL contains a NUL character' })
    const problems = checkParams?.(params)
    return merge(problems, checkQuery?.(query))
  }
  if (needsReader(method)) return (request) => checkContent(request, method, checkAddress(request))

  const readBody = ({ body }: RequestToCheck): unknown => {
    if (method.request !== undefined) return body
    if (!acceptsBody) return undefined
    return body === undefined ? {} : body
  }
  return (request) => {
    const body = readBody(request)
    const problems = merge(checkAddress(request), checkBody?.(body, maxSteps, request.bodyBytes))
    if (problems !== undefined) throw new InvalidRequest(problems)
    const { params, query } = request
    return { method: request.method, url: request.url, params, query, body, headers: request.headers }
  }
}

/** Checks the body that the reader of a method has read. */
function checkContent(request: RequestToCheck, method: ManifestMethod, ofAddress: Problems): Request {
  const received = request.body as ReceivedBody | undefined
  const isOptional = method.request === undefined && method.requestTypes === undefined
  const missing = isOptional ? undefined : [{ path: 'body', message: 'is required' }]
  const problems = merge(ofAddress, received === undefined ? missing : received.check())
  if (problems !== undefined) throw new InvalidRequest(problems)
  const { params, query, url, headers } = request
  return {
    method: request.method,
    url,
    params,
    query,
    body: received === undefined ? {} : received.value,
    headers,
    ...(received !== undefined && { contentType: received.type }),
    ...(method.raw === true && { raw: received?.raw ?? new Uint8Array() }),
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
