import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyEvents, type BusboyInstance } from '@fastify/busboy'
import { isWaypostError, multipartType } from '../../kit/index.ts'
import type { FilePart } from '../../schema/index.ts'
import type { SchemaProblem } from '../compile-schema.ts'
import { errors } from '../errors.ts'
import { parseJsonBody } from '../json-body.ts'
import { InvalidRequest } from '../problem.ts'
import { cleanFileName } from './file-name.ts'
import { cleanType } from './file-type.ts'
import { maxTexts, type PartPlan } from './plan-parts.ts'
import { receiveFile, type TemporaryFiles } from './receive-file.ts'

/** Longer texts belong into a file. */
const maxTextBytes = 64 * 1024
/** Names may have 10 KB. */
const maxHeaderBytes = 16 * 1024
/** RFC 2046 §5.1.1. */
const maxBoundary = 70

export interface MultipartOptions {
  /** The header of the request. */
  readonly contentType: string
  /** Maximum number of bytes of the body. */
  readonly limit: number
  readonly plan: PartPlan
  readonly temporary: TemporaryFiles
}

/** What a part was converted to, or why it is wrong. */
type Read = { readonly value: unknown } | { readonly problem: string }

/**
 * Reads the parts of a multipart body: files, JSON, and texts as they were sent. Stops at the first problem.
 * @throws the error for the caller
 */
export async function readMultipart(payload: Readable, options: MultipartOptions): Promise<Record<string, unknown>> {
  const { limit, plan } = options
  const parser = openParser(options)
  const values = new Map<string, unknown[]>()
  const parts = new Set<Readable>()
  const reading: Promise<void>[] = []
  let received = 0
  let isParsed = false
  const ended = Promise.withResolvers<void>()
  let failure: { readonly error: unknown } | undefined
  const fail = (error: unknown): void => {
    failure ??= { error }
    payload.off('data', write)
    ended.resolve()
    for (const part of parts) part.destroy(error as Error)
  }
  const write = (chunk: Buffer): void => {
    received += chunk.length
    if (received > limit) return fail(errors.WP_RUNTIME_BODY_SIZE({ limit }))
    if (parser.write(chunk)) return
    payload.pause()
    parser.once('drain', () => payload.resume())
  }
  const cutOff = (): void => fail(errors.WP_RUNTIME_REQUEST({ reason: 'The multipart body ends before its last part' }))
  parser.on('file', (...[name, stream, filename, encoding, type]: Parameters<BusboyEvents['file']>) => {
    parts.add(stream)
    stream.on('error', () => undefined) // the reader gets it too, unless it has ended
    const known = values.get(name) ?? []
    const part: Part = { name, filename, encoding, type, count: known.length + 1, texts: countTexts(values, plan) }
    const work = readPart(stream, part, options).then((read) => {
      if ('problem' in read) throw new InvalidRequest([problemOf(name, read.problem)])
      known[part.count - 1] = read.value
      parts.delete(stream)
    })
    known.push(undefined)
    values.set(name, known)
    reading.push(work.catch(fail))
  })
  parser.on('partsLimit', () => fail(errors.WP_RUNTIME_PARTS({ limit: plan.maxParts })))
  parser.on('error', cutOff)
  // The last part may have ended before the body has.
  const finish = (): void => {
    if (isParsed && payload.readableEnded) ended.resolve()
  }
  parser.on('finish', () => {
    isParsed = true
    finish()
  })
  payload.on('data', write)
  payload.once('end', () => {
    parser.end()
    finish()
  })
  payload.once('error', (error) => fail(toAborted(error)))
  payload.once('close', () => payload.readableEnded || fail(toAborted(undefined)))
  if (payload.readableEnded) parser.end()
  await ended.promise
  await Promise.all(reading) // a file that is still written could not be removed
  if (failure !== undefined) throw failure.error
  return collect(values, plan)
}

function openParser({ contentType, plan }: MultipartOptions): BusboyInstance {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  if (boundary === '' || boundary.length > maxBoundary)
    throw errors.WP_RUNTIME_REQUEST({
      reason: `The header Content-Type must name the boundary of the parts, of at most ${maxBoundary} characters`,
    })
  return new Busboy({
    // Without other parameters, which the parser could read in another way.
    headers: { 'content-type': `${multipartType}; boundary="${boundary}"` },
    preservePath: true,
    isPartAFile: () => true, // the parser would cut long texts, and decode them in any charset
    fileHwm: 256 * 1024,
    limits: { parts: plan.maxParts, headerPairs: 20, headerSize: maxHeaderBytes },
  })
}

interface Part {
  readonly name: string | undefined
  readonly filename: string | undefined
  readonly encoding: string
  readonly type: string
  /** The first part of a name has 1. */
  readonly count: number
  /** How many texts there were before. */
  readonly texts: number
}

/** Of a field for a file that was left empty. */
const missing = Symbol('missing')

async function readPart(stream: Readable, part: Part, options: MultipartOptions): Promise<Read> {
  const { plan, temporary } = options
  const { name, filename, encoding, type, count } = part
  if (name === undefined || name === '') return { problem: 'is a part without a name' }
  if (name === '__proto__') return { problem: 'is not a valid name' }
  if (!['7bit', '8bit', 'binary'].includes(encoding)) return { problem: `has the unsupported encoding ${encoding}` }
  const file = plan.files.get(name)
  if (file === undefined) {
    if (filename !== undefined && !plan.json.has(name)) return { problem: 'must be a text, not a file' }
    if (part.texts >= maxTexts) throw errors.WP_RUNTIME_PARTS({ limit: maxTexts })
    return readText(await collectText(stream, name), plan.json.has(name))
  }
  if (filename === undefined) return { problem: 'must be a file, with a filename' }
  // Browsers send a part without a name and content for a field without a file.
  if (filename === '') return (await isEmpty(stream)) ? { value: missing } : { problem: 'has no filename' }
  const cleaned = cleanType(type)
  const problem = findFileProblem(file, { count, type: cleaned })
  if (problem !== undefined) return { problem }
  const received = await receiveFile(stream, {
    part: name,
    name: cleanFileName(filename),
    type: cleaned,
    maxSize: file.maxSize,
    temporary,
  })
  return 'file' in received ? { value: received.file } : received
}

function findFileProblem(
  { types, maxItems }: FilePart,
  { count, type }: { readonly count: number; readonly type: string },
): string | undefined {
  if (maxItems === undefined && count > 1) return 'must not be repeated'
  if (maxItems !== undefined && count > maxItems) return `must NOT have more than ${maxItems} items`
  return types === undefined || types.includes(type)
    ? undefined
    : `must be a file of type ${types.join(' or ')}, not ${type.slice(0, 100)}`
}

async function isEmpty(stream: Readable): Promise<boolean> {
  for await (const chunk of stream as AsyncIterable<Buffer>) if (chunk.length > 0) return false
  return true
}

async function collectText(stream: Readable, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxTextBytes) throw errors.WP_RUNTIME_PART_SIZE({ name, limit: maxTextBytes })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function readText(bytes: Buffer, isJson: boolean): Read {
  if (isJson) return readJson(bytes)
  if (!isUtf8(bytes)) return { problem: 'is not UTF-8' }
  if (bytes.includes(0)) return { problem: 'contains a NUL character' }
  return { value: bytes.toString('utf8') }
}

function readJson(bytes: Buffer): Read {
  try {
    return { value: parseJsonBody(bytes) }
  } catch (error) {
    if (!isWaypostError(error)) throw error
    return { problem: error.message.replace(/^The (?:JSON )?body is /, 'is ') }
  }
}

function countTexts(values: ReadonlyMap<string, readonly unknown[]>, { files }: PartPlan): number {
  let count = 0
  for (const [name, all] of values) if (!files.has(name)) count += all.length
  return count
}

function problemOf(name: string | undefined, message: string): SchemaProblem {
  return { path: name === undefined || name === '' ? 'body' : `body/${name.slice(0, 100)}`, message }
}

function toAborted(cause: unknown): Error {
  return errors.WP_RUNTIME_REQUEST({ reason: 'The body ends before its announced length' }, { cause })
}

/** Returns the values by name: lists for lists and for texts that were repeated. */
function collect(values: ReadonlyMap<string, readonly unknown[]>, { files, json }: PartPlan): Record<string, unknown> {
  const collected: Record<string, unknown> = {}
  for (const [name, given] of values) {
    const all = given.filter((value) => value !== missing)
    if (all.length === 0) continue
    const [first] = all
    const isList = files.get(name)?.maxItems !== undefined || json.get(name)?.isList === true
    // A list of JSON may be one part.
    if (isList) collected[name] = json.has(name) && all.length === 1 && Array.isArray(first) ? first : [...all]
    else collected[name] = all.length === 1 ? first : [...all]
  }
  return collected
}
