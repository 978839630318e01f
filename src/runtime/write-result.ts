import type { JsonSchema } from '../contract/index.ts'
import { bodylessStatuses, findInfiniteNumber, findResponseKey, isJsonType, messageOf } from '../kit/index.ts'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { mapSubSchemas } from '../schema/index.ts'
import type { ResultCheck } from './compile-result-check.ts'
import { makeMediaWriter } from './media/write-media.ts'
import { makeResultError, type ResponseId, type Written, type WrittenJson } from './written.ts'
import { asRawBody } from './raw-body.ts'
import { getMaxSteps } from './step-budget.ts'
import type { Validator } from './compile-schema.ts'
import type { Serializer } from './compile-serializer.ts'
import type { SchemaCache } from './schema-cache.ts'

export interface WriteSources {
  readonly manifest: Manifest
  readonly schemas: SchemaCache
  /** Report fields of results that their schemas do not declare; used in `dev` and in tests. */
  readonly checkResults: boolean
}

/**
 * Writes the body of a response with the schema that the method declares for its status.
 * @param type the content type that the action set
 * @throws WP_RUNTIME_RESULT
 */
export type Writer = (status: number, body: unknown, type: string | undefined) => Written

/** The JSON text of a result whose class has written it by the schema that it derived, as `sql-table` does. */
const jsonText = Symbol.for('waypost.json-text')
/** A field of a result of `sql-table` that is null although its schema declares a value, because the value does not fit it. */
const jsonNull = Symbol.for('waypost.json-null')
const jsonType = 'application/json; charset=utf-8'
const bodyless: ReadonlySet<number> = new Set([...bodylessStatuses].map(Number))

/** @param action the name of the action in messages */
export function makeWriter(sources: WriteSources, method: ManifestMethod, action: string): Writer {
  const writeJson = makeJsonWriter(sources, method, action)
  const media = makeMediaWriter(method, {
    writeJson: (at, body) => writeJson(at.status, body),
    bySchema(schema) {
      const writer = makeStatusWriter(sources, schema)
      return (at, body) => writeBy(at, writer, body, sources.checkResults)
    },
    validator: (schema) => sources.schemas.validator(schema, sources.manifest.schemas, 'result'),
    action,
  })
  return (status, body, type) => {
    if (bodyless.has(status)) {
      if (sources.checkResults && body != null)
        throw makeResultError({ action, status }, 'a response with this status has no body')
      return { payload: undefined, type: '', isJson: false }
    }
    const declared = media?.(status, body, type)
    if (declared !== undefined) return declared
    const raw = asRawBody(body)
    if (raw !== undefined) {
      return { payload: raw.payload, type: type ?? raw.type ?? 'application/octet-stream', isJson: false }
    }
    if (body instanceof Response)
      throw makeResultError({ action, status }, 'it is a fetch Response; return its body instead')
    const isJson = type === undefined || isJsonType(type)
    if (typeof body === 'string' && !isJson) return { payload: body, type, isJson }
    const { payload, dropped, infinite } = writeJson(status, body)
    return { payload, type: type ?? jsonType, isJson, dropped, infinite }
  }
}

/** What is compiled for the responses of one status. */
interface StatusWriter {
  readonly serialize: Serializer
  readonly validate: Validator
  readonly fits: ResultCheck
  /** For results in which values of these types are written as null because they have no JSON form. */
  lenient(types: readonly string[]): Pick<StatusWriter, 'serialize' | 'validate'>
}

function makeStatusWriter({ schemas, manifest }: WriteSources, schema: JsonSchema): StatusWriter {
  const serialize = schemas.serializer(schema, manifest.schemas)
  let validate: Validator | undefined
  let fits: ResultCheck | undefined
  const lenient = new Map<readonly string[], ReturnType<StatusWriter['lenient']>>()
  const makeLenient = (types: readonly string[]) => {
    const allow = (one: JsonSchema) => allowNulls(one, types)
    const named = Object.fromEntries(Object.entries(manifest.schemas).map(([name, one]) => [name, allow(one)]))
    const own = allow(schema)
    return { serialize: schemas.serializer(own, named), validate: schemas.validator(own, named, 'result') }
  }
  // Compiled on first use: a server has many routes and needs few of these.
  return {
    serialize,
    get validate() {
      return (validate ??= schemas.validator(schema, manifest.schemas, 'result'))
    },
    get fits() {
      return (fits ??= schemas.resultCheck(schema, manifest.schemas))
    },
    lenient(types) {
      const known = lenient.get(types) ?? makeLenient(types)
      lenient.set(types, known)
      return known
    },
  }
}

function makeJsonWriter(sources: WriteSources, method: ManifestMethod, action: string) {
  const { checkResults } = sources
  const writers = new Map<number, StatusWriter>()
  const ranges = new Map<string, StatusWriter>()
  for (const [status, schema] of Object.entries(method.responses)) {
    if (Number.isNaN(Number(status))) ranges.set(status, makeStatusWriter(sources, schema))
    else if (!bodyless.has(Number(status))) writers.set(Number(status), makeStatusWriter(sources, schema))
  }
  const findWriter = (status: number): StatusWriter | undefined =>
    writers.get(status) ??
    (ranges.size === 0 ? undefined : ranges.get(findResponseKey(String(status), method.responses) ?? ''))
  return (status: number, body: unknown): WrittenJson => {
    const at = { action, status }
    const writer = findWriter(status)
    if (writer === undefined) return { payload: body === undefined ? undefined : write(at, JSON.stringify, body) }
    return writeBy(at, writer, body, checkResults)
  }
}

/** Writes a value by a schema. */
function writeBy(at: ResponseId, writer: StatusWriter, body: unknown, checkResults: boolean): WrittenJson {
  if (body === undefined) throw makeResultError(at, 'the result is missing')
  const text = findText(body)
  if (text !== undefined)
    return { payload: text, infinite: checkResults ? checkWritten(at, writer, { body, text }) : undefined }
  if (!checkResults && writer.fits(body)) return { payload: write(at, writer.serialize, body) }
  const { plain, payload, infinite } = writePlain(at, writer, body)
  if (!checkResults) return { payload, infinite }
  const dropped = listDropped(plain, JSON.parse(payload))
  return { payload, infinite, dropped: dropped.length === 0 ? undefined : dropped }
}

function findText(body: unknown): string | undefined {
  return (body as { readonly [jsonText]?: string } | null)?.[jsonText]
}

/** Checks and writes the JSON form of a result, because that is what callers get; a Date becomes a text, for example. */
function writePlain(at: ResponseId, writer: StatusWriter, body: unknown) {
  const text = write(at, JSON.stringify, body) ?? 'null'
  const plain: unknown = JSON.parse(text)
  const { infinite, fits } = checkPlain(at, writer, { body, text, plain })
  return {
    plain,
    payload: write(at, fits ? writer.serialize : writer.lenient(nullTypes(body)).serialize, plain),
    infinite,
  }
}

/** Checks a result that its class has written. @returns where it has a number that JSON cannot have */
function checkWritten(at: ResponseId, writer: StatusWriter, { body, text }: Omit<PlainResult, 'plain'>) {
  return checkPlain(at, writer, { body, text, plain: JSON.parse(text) }).infinite
}

interface PlainResult {
  readonly body: unknown
  readonly text: string
  readonly plain: unknown
}

function checkPlain(at: ResponseId, writer: StatusWriter, { body, text, plain }: PlainResult) {
  const maxSteps = getMaxSteps(text.length)
  const problems = writer.validate(plain, maxSteps, text.length)
  const isMarked = readJsonNull(body) !== undefined // and then logged
  const infinite = !isMarked && text.includes('null') ? findInfiniteNumber(body)?.join('/') : undefined
  if (problems === undefined) return { infinite, fits: true }
  const hasNull = isMarked || infinite !== undefined
  if (!hasNull || writer.lenient(nullTypes(body)).validate(plain, maxSteps, text.length) !== undefined)
    throw makeResultError(at, problems.map(({ path, message }) => `${path} ${message}`).join('; '))
  return { infinite, fits: false }
}

function readJsonNull(body: unknown): string | undefined {
  return (body as { readonly [jsonNull]?: string } | null)?.[jsonNull]
}

const numbers = ['number', 'integer']
const scalars = [...numbers, 'string', 'boolean']

/** Only `sql-table` replaces values other than numbers by null. */
function nullTypes(body: unknown): readonly string[] {
  return readJsonNull(body) === undefined ? numbers : scalars
}

/** Allows null wherever a schema declares one of the types. */
function allowNulls(schema: JsonSchema, nullable: readonly string[]): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const { oneOf, ...inner } = mapSubSchemas(schema, (one) => allowNulls(one, nullable))
  const types = new Set([inner['type']].flat() as string[])
  return {
    ...inner,
    ...(nullable.some((type) => types.has(type)) ? { type: [...types.add('null')] } : {}),
    ...(oneOf === undefined ? {} : { allOf: [{ anyOf: oneOf }, ...((inner['allOf'] as JsonSchema[]) ?? [])] }), // several may allow null
  }
}

function write(at: ResponseId, serialize: Serializer, body: unknown): string {
  try {
    return serialize(body)
  } catch (cause) {
    throw makeResultError(at, messageOf(cause).replace(/!$/, ''), cause)
  }
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
