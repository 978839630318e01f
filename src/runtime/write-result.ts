import type { Readable } from 'node:stream'
import { bodylessStatuses, isJsonType, messageOf } from '../kit/index.ts'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { errors } from './errors.ts'
import { asRawBody } from './raw-body.ts'
import type { Serializer, Validator } from './compile-schema.ts'
import type { SchemaCache } from './schema-cache.ts'

export interface WriteSources {
  readonly manifest: Manifest
  readonly schemas: SchemaCache
  /** Check results against their schemas before they are sent: in `dev` and in tests. */
  readonly checkResults: boolean
}

export interface Written {
  /** A text, a stream or bytes; undefined for an answer without a body. */
  readonly payload: string | Readable | Uint8Array | undefined
  /** The content type, where there is a body. */
  readonly type: string
  readonly isJson: boolean
  /** Where the result had fields that its schema has not; only looked for where results are checked. */
  readonly dropped?: readonly string[] | undefined
}

/** What an action answered. */
export interface Answering {
  readonly status: number
  readonly body: unknown
  /** The content type that the action chose. */
  readonly type: string | undefined
}

/** Writes the body of an answer by what the method declares for its status. @throws WP_RUNTIME_RESULT */
export type Writer = (answering: Answering) => Written

const jsonType = 'application/json; charset=utf-8'
const bodyless: ReadonlySet<number> = new Set([...bodylessStatuses].map(Number))

/** @param action what messages call the action */
export function makeWriter(sources: WriteSources, method: ManifestMethod, action: string): Writer {
  const writeJson = makeJsonWriter(sources, method, action)
  return (answering) => {
    const { status, body, type } = answering
    if (bodyless.has(status)) {
      if (sources.checkResults && body != null)
        throw misfit({ action, status }, 'a response with this status has no body')
      return { payload: undefined, type: '', isJson: false }
    }
    const raw = asRawBody(body)
    if (raw !== undefined) {
      return { payload: raw.payload, type: type ?? raw.type ?? 'application/octet-stream', isJson: false }
    }
    if (body instanceof Response) throw misfit({ action, status }, 'it is a fetch Response; return its body instead')
    const isJson = type === undefined || isJsonType(type)
    if (typeof body === 'string' && !isJson) return { payload: body, type, isJson }
    const { payload, dropped } = writeJson(answering)
    return { payload, dropped, type: type ?? jsonType, isJson }
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
  return ({ status, body }: Answering): Pick<Written, 'dropped'> & { readonly payload: string | undefined } => {
    const at = { action, status }
    const serialize = serializers.get(status)
    if (serialize === undefined) return { payload: body === undefined ? undefined : write(at, JSON.stringify, body) }
    if (body === undefined) throw misfit(at, 'the result is missing')
    const validate = validators.get(status)
    if (validate === undefined) return { payload: write(at, serialize, body) }
    const plain = checkResult(at, validate, body)
    const payload = write(at, serialize, body)
    const dropped = listDropped(plain, JSON.parse(payload))
    return dropped.length === 0 ? { payload } : { payload, dropped }
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
    throw misfit(at, messageOf(cause).replace(/!$/, ''), cause)
  }
}

function misfit({ action, status }: Place, reason: string, cause?: unknown): Error {
  return errors.WP_RUNTIME_RESULT({ action, status, reason }, { cause })
}

const mostListed = 20

/** Where a value has fields that what was made of it lacks, as JSON pointers without the first slash: `entry/0/due_date`. */
export function listDropped(value: unknown, kept: unknown): readonly string[] {
  const dropped: string[] = []
  collect(dropped, { value, kept, path: '' })
  return dropped
}

function collect(dropped: string[], { value, kept, path }: { value: unknown; kept: unknown; path: string }): void {
  if (!isObject(value) || !isObject(kept)) return
  for (const [key, item] of Object.entries(value)) {
    if (dropped.length >= mostListed) return
    if (Object.hasOwn(kept, key)) collect(dropped, { value: item, kept: kept[key], path: `${path}${key}/` })
    else dropped.push(path + key)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
