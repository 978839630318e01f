import { isUtf8 } from 'node:buffer'
import type { FastifyRequest, RequestPayload } from 'fastify'
import type { JsonSchema } from '../../contract/index.ts'
import { formType, isJsonType, multipartType } from '../../kit/index.ts'
import type { ManifestMediaType, ManifestMethod } from '../../release/index.ts'
import type { NamedSchemas } from '../../schema/index.ts'
import type { SchemaProblem, Validator } from '../compile-schema.ts'
import { errors } from '../errors.ts'
import { parseJsonBody } from '../json-body.ts'
import { LeanRequest } from '../lean-messages.ts'
import type { SchemaCache } from '../schema-cache.ts'
import { getMaxSteps } from '../step-budget.ts'
import { collectBody } from './collect-body.ts'
import { planParts } from './plan-parts.ts'
import { readForm } from './read-form.ts'
import { readMultipart } from './read-multipart.ts'
import { TemporaryFiles } from './receive-file.ts'
import { streamBody } from './stream-body.ts'

/** A body that was read, with the check of its schema. */
export interface ReceivedBody {
  /** The media type, without parameters. */
  readonly type: string
  readonly value: unknown
  /** The bytes, for methods that want them. */
  readonly raw?: Uint8Array | undefined
  check(): readonly SchemaProblem[] | undefined
}

/** Reads the body of a request. @throws the error for the caller */
export type ReadBody = (request: FastifyRequest, payload: RequestPayload) => Promise<ReceivedBody | undefined>

/** Reads the body of one media type. */
type ReadType = (payload: RequestPayload, to: Receiving) => Promise<Omit<ReceivedBody, 'type'>>

interface Receiving {
  readonly contentType: string
  readonly limit: number
  readonly temporary: () => TemporaryFiles
}

export interface ReaderSources {
  readonly schemas: SchemaCache
  readonly named: NamedSchemas
  /** How many bytes of disk the uploads of the process may use. */
  readonly uploadSpace: number
}

const files = new WeakMap<FastifyRequest, TemporaryFiles>()

/** Removes the temporary files of a request. Call it when the response has ended. */
export function removeFiles(request: FastifyRequest): void {
  void files.get(request)?.remove()
}

const anyObject: JsonSchema = { type: 'object' }
const octets = 'application/octet-stream'

/** A large body may arrive at this speed, after the time that each body has. */
const minBytesPerSecond = 32 * 1024
const minSeconds = 60

/** Makes the reader of a method whose media types are listed, or that wants the bytes of its body. */
export function makeBodyReader(sources: ReaderSources, method: ManifestMethod): ReadBody {
  const { request: json = anyObject, requestTypes = { 'application/json': { schema: json } } } = method
  const readers = new Map(
    Object.entries(requestTypes).map(([type, media]) => [type, makeReader(type, media, { sources, method })]),
  )
  const types = [...readers.keys()].join(' or ')
  return async (request, payload) => {
    // RFC 9110 §8.3: without the header, it may be any bytes.
    const { 'content-type': contentType = octets, 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding.trim().toLowerCase() !== 'identity')
      throw errors.WP_RUNTIME_BODY_ENCODING({ encoding }, { headers: { 'accept-encoding': 'identity' } })
    const type = contentType.split(';')[0]!.trim().toLowerCase()
    const read = readers.get(type)
    if (read === undefined) throw errors.WP_RUNTIME_BODY_TYPE({ types })
    const limit = request.routeOptions.bodyLimit
    if (Number(request.headers['content-length']) > limit) throw errors.WP_RUNTIME_BODY_SIZE({ limit })
    if (payload instanceof LeanRequest) payload.maxSeconds = minSeconds + limit / minBytesPerSecond
    const temporary = () => {
      const made = new TemporaryFiles(sources.uploadSpace)
      files.set(request, made)
      return made
    }
    return { type, ...(await read(payload, { contentType, limit, temporary })) }
  }
}

interface MakeContext {
  readonly sources: ReaderSources
  readonly method: ManifestMethod
}

function makeReader(type: string, { schema }: ManifestMediaType, { sources, method }: MakeContext): ReadType {
  if (schema === undefined)
    return async (payload, { limit }) => ({ value: streamBody(payload, limit), check: () => undefined })
  if (type === multipartType) return makeMultipartReader(schema, sources)
  const { schemas, named } = sources
  const isForm = type === formType
  const validate = isForm
    ? nameBody(schemas.validator(schema, named, 'query'))
    : schemas.validator(schema, named, 'body')
  const mayBeEmpty = method.request === undefined && method.requestTypes === undefined
  const parse = isForm ? readForm : isJsonType(type) ? makeJsonParser(mayBeEmpty) : readText
  return async (payload, { limit }) => {
    const bytes = await collect(payload, limit)
    const value = parse(bytes)
    const check = () => validate(value, getMaxSteps(limit), bytes.length)
    return { value, check, ...(method.raw === true && { raw: new Uint8Array(bytes) }) }
  }
}

function collect(payload: RequestPayload, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    collectBody(payload, limit, (failure, bytes) => {
      if (bytes === undefined) reject(failure!)
      else resolve(bytes)
    })
  })
}

function makeJsonParser(mayBeEmpty: boolean): (bytes: Buffer) => unknown {
  return (bytes) => (bytes.length === 0 && mayBeEmpty ? {} : parseJsonBody(bytes))
}

function readText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw errors.WP_RUNTIME_REQUEST({ reason: 'The body is not UTF-8' })
  if (bytes.includes(0)) throw errors.WP_RUNTIME_REQUEST({ reason: 'The body contains a NUL character' })
  return bytes.toString('utf8')
}

function makeMultipartReader(schema: JsonSchema, { schemas, named }: ReaderSources): ReadType {
  const plan = planParts(schema, named)
  const checkTexts = nameBody(schemas.validator(plan.texts, named, 'query'))
  const checksOfJson = [...plan.json.values()].map(
    ({ name, schema: one }) => [name, nameBody(schemas.validator(one, named, 'body'), `body/${name}`)] as const,
  )
  return async (payload, { contentType, limit, temporary }) => {
    const value = await readMultipart(payload, { contentType, limit, plan, temporary: temporary() })
    const check = () => {
      const problems = checksOfJson.flatMap(([name, validate]) =>
        Object.hasOwn(value, name) ? (validate(value[name], getMaxSteps(limit)) ?? []) : [],
      )
      const all = [...(checkTexts(value) ?? []), ...problems]
      return all.length === 0 ? undefined : all
    }
    return { value, check }
  }
}

/** Names the body in the problems of parameters and of parts. */
function nameBody(validate: Validator, name = 'body'): Validator {
  return (value, maxSteps, bytes) =>
    validate(value, maxSteps, bytes)?.map((problem) => ({
      ...problem,
      path: problem.path.replace(/^(?:query|body)/, name),
    }))
}
