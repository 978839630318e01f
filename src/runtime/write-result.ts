import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { messageOf } from '../kit/index.ts'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { errors } from './errors.ts'
import { listDropped } from './list-dropped.ts'
import type { SchemaCache, Serializer, Validator } from './schema-cache.ts'

export interface WriteSources {
  readonly manifest: Manifest
  readonly schemas: SchemaCache
  /** Check results against their schemas before they are sent: in `dev` and in tests. */
  readonly checkResults: boolean
}

/** What an action answered: its own headers are set already. */
export interface Written {
  /** A text, a stream or bytes; undefined for an answer without a body. */
  readonly payload: string | Readable | Uint8Array | undefined
  readonly isJson: boolean
}

/** Writes the body of an answer by what the method declares for its status. @throws WP_RUNTIME_RESULT */
export type Writer = (status: number, body: unknown, reply: FastifyReply) => Written

const jsonType = 'application/json; charset=utf-8'
/** Statuses whose answer has no body (RFC 9110). */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304])

/** @param action what messages call the action */
export function makeWriter(sources: WriteSources, method: ManifestMethod, action: string): Writer {
  const writeJson = makeJsonWriter(sources, method, action)
  return (status, body, reply) => {
    if (bodyless.has(status)) {
      if (sources.checkResults && body != null)
        throw misfit({ action, status }, 'an answer with this status has no body')
      return { payload: undefined, isJson: false }
    }
    const type = reply.getHeader('content-type')
    if (body instanceof Readable || body instanceof Uint8Array) {
      if (type === undefined) reply.header('content-type', 'application/octet-stream')
      return { payload: body, isJson: false }
    }
    const isJsonType = type === undefined || /[/+]json\b/i.test(String(type))
    if (typeof body === 'string' && !isJsonType) return { payload: body, isJson: false }
    const payload = writeJson(status, body, reply)
    if (payload !== undefined && type === undefined) reply.header('content-type', jsonType)
    return { payload, isJson: payload !== undefined && isJsonType }
  }
}

interface Place {
  readonly action: string
  readonly status: number
}

function makeJsonWriter({ schemas, manifest, checkResults }: WriteSources, method: ManifestMethod, action: string) {
  const serializers = new Map<number, Serializer>()
  const validators = new Map<number, Validator>()
  for (const [status, schema] of Object.entries(method.responses)) {
    if (bodyless.has(Number(status))) continue
    serializers.set(Number(status), schemas.serializer(schema, manifest.schemas))
    if (checkResults) validators.set(Number(status), schemas.validator(schema, manifest.schemas, 'result'))
  }
  return (status: number, body: unknown, reply: FastifyReply): string | undefined => {
    const at = { action, status }
    const serialize = serializers.get(status)
    if (serialize === undefined) return body === undefined ? undefined : write(at, JSON.stringify, body)
    if (body === undefined) throw misfit(at, 'there is none')
    const validate = validators.get(status)
    if (validate === undefined) return write(at, serialize, body)
    const plain = checkResult(at, validate, body)
    const text = write(at, serialize, body)
    const dropped = listDropped(plain, JSON.parse(text))
    if (dropped.length > 0) reply.request.log.warn({ action, dropped }, 'a result has fields that its schema has not')
    return text
  }
}

/** What JSON makes of a result (a Date is a text) is what has to fit, since it is what callers get. */
function checkResult(at: Place, validate: Validator, body: unknown): unknown {
  const plain: unknown = JSON.parse(write(at, JSON.stringify, body) ?? 'null')
  const problems = validate(plain)
  if (problems === undefined) return plain
  throw misfit(at, problems.map(({ path, message }) => `${path} ${message}`).join('; '))
}

function write(at: Place, serialize: Serializer, body: unknown): string {
  try {
    return serialize(body)
  } catch (cause) {
    throw misfit(at, messageOf(cause), cause)
  }
}

function misfit({ action, status }: Place, reason: string, cause?: unknown): Error {
  return errors.WP_RUNTIME_RESULT({ action, status, reason }, { cause })
}
