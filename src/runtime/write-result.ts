import type { Readable } from 'node:stream'
import { bodylessStatuses, isJsonType, messageOf } from '../kit/index.ts'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { errors } from './errors.ts'
import { asRawBody } from './raw-body.ts'
import { getMaxSteps } from './step-budget.ts'
import type { Serializer, Validator } from './compile-schema.ts'
import type { SchemaCache } from './schema-cache.ts'

export interface WriteSources {
  readonly manifest: Manifest
  readonly schemas: SchemaCache
  /** Check results against their schemas before they are sent; used in `dev` and in tests. */
  readonly checkResults: boolean
}

export interface Written {
  /** A text, a stream or bytes; undefined for a response without a body. */
  readonly payload: string | Readable | Uint8Array | undefined
  /** The content type; empty without a body. */
  readonly type: string
  readonly isJson: boolean
  /** Fields that the schema does not declare; only if results are checked. */
  readonly dropped?: readonly string[] | undefined
}

/** A response of an action. */
export interface ResponseToWrite {
  readonly status: number
  readonly body: unknown
  /** The content type that the action set. */
  readonly type: string | undefined
}

/** Writes the body of a response with the schema that the method declares for its status. @throws WP_RUNTIME_RESULT */
export type Writer = (response: ResponseToWrite) => Written

/** The JSON text of a result whose class has written it by the schema that it derived, as `sql-table` does. */
const jsonText = Symbol.for('waypost.json-text')
const jsonType = 'application/json; charset=utf-8'
const bodyless: ReadonlySet<number> = new Set([...bodylessStatuses].map(Number))

/** @param action the name of the action in messages */
export function makeWriter(sources: WriteSources, method: ManifestMethod, action: string): Writer {
  const writeJson = makeJsonWriter(sources, method, action)
  return (answering) => {
    const { status, body, type } = answering
    if (bodyless.has(status)) {
      if (sources.checkResults && body != null)
        throw makeResultError({ action, status }, 'a response with this status has no body')
      return { payload: undefined, type: '', isJson: false }
    }
    const raw = asRawBody(body)
    if (raw !== undefined) {
      return { payload: raw.payload, type: type ?? raw.type ?? 'application/octet-stream', isJson: false }
    }
    if (body instanceof Response)
      throw makeResultError({ action, status }, 'it is a fetch Response; return its body instead')
    const isJson = type === undefined || isJsonType(type)
    if (typeof body === 'string' && !isJson) return { payload: body, type, isJson }
    const { payload, dropped } = writeJson(answering)
    return { payload, dropped, type: type ?? jsonType, isJson }
  }
}

interface ResponseId {
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
  return ({ status, body }: ResponseToWrite): Pick<Written, 'dropped'> & { readonly payload: string | undefined } => {
    const at = { action, status }
    const serialize = serializers.get(status)
    if (serialize === undefined) return { payload: body === undefined ? undefined : write(at, JSON.stringify, body) }
    if (body === undefined) throw makeResultError(at, 'the result is missing')
    const validate = validators.get(status)
    const text = (body as { readonly [jsonText]?: string } | null)?.[jsonText]
    if (text !== undefined) {
      if (validate !== undefined) checkResult(at, validate, body)
      return { payload: text }
    }
    if (validate === undefined) return { payload: write(at, serialize, body) }
    const plain = checkResult(at, validate, body)
    const payload = write(at, serialize, body)
    const dropped = listDropped(plain, JSON.parse(payload))
    return dropped.length === 0 ? { payload } : { payload, dropped }
  }
}

/** Checks the result after conversion to JSON, because that is what callers get; a Date becomes a text, for example. */
function checkResult(at: ResponseId, validate: Validator, body: unknown): unknown {
  const text = write(at, JSON.stringify, body) ?? 'null'
  const plain: unknown = JSON.parse(text)
  const problems = validate(plain, getMaxSteps(text.length))
  if (problems === undefined) return plain
  throw makeResultError(at, problems.map(({ path, message }) => `${path} ${message}`).join('; '))
}

function write(at: ResponseId, serialize: Serializer, body: unknown): string {
  try {
    return serialize(body)
  } catch (cause) {
    throw makeResultError(at, messageOf(cause).replace(/!$/, ''), cause)
  }
}

function makeResultError({ action, status }: ResponseId, reason: string, cause?: unknown): Error {
  return errors.WP_RUNTIME_RESULT({ action, status, reason }, { cause })
}

const maxListedFields = 20

/**
 * Lists the fields of a value that are missing from its serialized form, as JSON pointers without the leading slash:
 * `entry/0/due_date`.
 */
export function listDropped(value: unknown, kept: unknown): readonly string[] {
  const dropped: string[] = []
  collect(dropped, { value, kept, path: '' })
  return dropped
}

function collect(dropped: string[], { value, kept, path }: { value: unknown; kept: unknown; path: string }): void {
  if (!isObject(value) || !isObject(kept)) return
  for (const [key, item] of Object.entries(value)) {
    if (dropped.length >= maxListedFields) return
    if (Object.hasOwn(kept, key)) collect(dropped, { value: item, kept: kept[key], path: `${path}${key}/` })
    else dropped.push(path + key)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
