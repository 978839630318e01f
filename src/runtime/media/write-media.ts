import { Readable } from 'node:stream'
import type { JsonSchema } from '../../contract/index.ts'
import { findResponseKey, isJsonType, isWaypostError, itemTypes, messageOf } from '../../kit/index.ts'
import type { ManifestMethod } from '../../release/index.ts'
import type { Validator } from '../compile-schema.ts'
import { asRawBody } from '../raw-body.ts'
import { makeResultError, type ResponseId, type Written, type WrittenJson } from '../written.ts'
import { essenceOf } from './accept.ts'
import { itemFormats } from './item-formats.ts'
import { ItemStream } from './item-stream.ts'

type WriteJson = (at: ResponseId, value: unknown) => WrittenJson

export interface MediaWriting {
  readonly action: string
  /** Writes the JSON of a status. */
  readonly writeJson: WriteJson
  /** Makes the writer of one item. */
  bySchema(schema: JsonSchema): WriteJson
  validator(schema: JsonSchema): Validator
}

/** Writes a body that has a declared media type. */
type BodyWriter = (at: ResponseId, body: unknown, type: string) => Written

/**
 * Makes the writer of the statuses whose media types a method declares; undefined if there are none. The writer returns
 * undefined for other statuses, and throws WP_RUNTIME_RESULT for a media type that is not declared.
 */
export function makeMediaWriter(
  { responseTypes }: ManifestMethod,
  writing: MediaWriting,
): ((status: number, body: unknown, type: string | undefined) => Written | undefined) | undefined {
  if (responseTypes === undefined) return undefined
  const writers = Object.fromEntries(
    Object.entries(responseTypes).map(([status, types]) => [status, mapTypes(types, writing)]),
  )
  return (status, body, given) => {
    // A part of a file has the type of the whole.
    const key = findResponseKey(status === 206 && writers['206'] === undefined ? '200' : String(status), writers)
    if (key === undefined) return undefined
    const at = { action: writing.action, status }
    const types = writers[key]!
    const type = given ?? chooseForBody(at, body, [...types.keys()])
    const write = types.get(essenceOf(type))
    if (write === undefined)
      throw makeResultError(at, `its type "${type}" is not declared, only ${[...types.keys()].join(', ')}`)
    return write(at, body, type)
  }
}

function mapTypes(types: Readonly<Record<string, { readonly schema?: JsonSchema }>>, writing: MediaWriting) {
  return new Map(Object.entries(types).map(([type, { schema }]) => [type, makeBodyWriter(type, schema, writing)]))
}

/** Chooses the type that a body without one has: that of a Blob, the only one, or the one for its kind of value. */
function chooseForBody(at: ResponseId, body: unknown, types: readonly string[]): string {
  if (body instanceof Blob && body.type !== '') return body.type
  const isBytes = typeof body === 'string' || isRaw(body)
  const fitting =
    types.length === 1 || isBytes
      ? types
      : types.filter((one) => (isStreamOf(body) ? itemTypes.has(one) : isJsonType(one)))
  if (fitting.length === 1) return fitting[0]!
  throw makeResultError(at, `it has no content type; return context.respond with one of ${types.join(', ')}`)
}

function isRaw(body: unknown): boolean {
  return body instanceof Uint8Array || body instanceof ArrayBuffer || body instanceof Blob || isByteStream(body)
}

/** Whether a body is a stream of bytes, unlike a generator of values. */
function isByteStream(body: unknown): boolean {
  return (body instanceof Readable && !body.readableObjectMode) || body instanceof ReadableStream
}

function isStreamOf(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

function makeBodyWriter(type: string, schema: JsonSchema | undefined, writing: MediaWriting): BodyWriter {
  if (schema === undefined) return writeUnchanged
  if (itemTypes.has(type)) return makeItemWriter(type, writing.bySchema(schema))
  if (isJsonType(type))
    return (at, body, full) =>
      isRaw(body)
        ? writeUnchanged(at, body, full)
        : { ...writing.writeJson(at, body), type: withCharset(full), isJson: true }
  return makeTextWriter(writing.validator(schema))
}

/** Sends bytes, a text or a stream as the action made them. */
function writeUnchanged(at: ResponseId, body: unknown, type: string): Written {
  const raw = asRawBody(body)
  if (raw !== undefined) return { payload: raw.payload, type, isJson: false }
  if (typeof body === 'string') return { payload: body, type: withCharset(type), isJson: false }
  throw makeResultError(at, `a body of type "${type}" must be a string, bytes, a Blob or a stream`)
}

function makeTextWriter(validate: Validator): BodyWriter {
  return (at, body, type) => {
    const problems = typeof body === 'string' ? validate(body) : undefined
    if (problems === undefined) return writeUnchanged(at, body, type)
    throw makeResultError(at, problems.map(({ path, message }) => `${path} ${message}`).join('; '))
  }
}

function withCharset(type: string): string {
  return /^(?:text\/[^;]+|application\/json)$/.test(type) ? `${type}; charset=utf-8` : type
}

/** Streams of bytes come from elsewhere, such as another server, and are sent as they are. */
function makeItemWriter(type: string, writeJson: WriteJson): BodyWriter {
  const format = itemFormats[type]!
  return (at, body, full) => {
    if (isRaw(body)) return writeUnchanged(at, body, full)
    if (!isIterable(body))
      throw makeResultError(at, `a body of type "${type}" must be an async generator or another iterable of values`)
    const write = (item: unknown) =>
      format.write(item, (value) => {
        const { payload, dropped } = writeJson(at, value)
        if (dropped !== undefined) stream.observer?.dropped(dropped)
        return payload!
      })
    const stream: ItemStream = new ItemStream(body, format, (item) => {
      try {
        return write(item)
      } catch (error) {
        throw isWaypostError(error) ? error : makeResultError(at, messageOf(error), error)
      }
    })
    return { payload: stream, type: full, isJson: false }
  }
}

function isIterable(body: unknown): body is AsyncIterable<unknown> | Iterable<unknown> {
  return typeof body === 'object' && body !== null && (Symbol.asyncIterator in body || Symbol.iterator in body)
}
