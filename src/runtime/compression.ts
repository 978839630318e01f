import { pipeline, type Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib, { constants } from 'node:zlib'
import negotiator from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from './conditions.ts'

/** Content codings, in the order of preference where the caller has none. */
const codings = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/** Smaller responses do not become smaller, or save no packet. */
export const minBytes = 1024
/** Compressing up to this size takes less time than handing it to another thread. */
const maxBytesInTurn = 16 * 1024

/** Media types whose content is text or has long repetitions. Event streams stay as they are: proxies hold them back. */
const compressible =
  /^(?:text\/(?!event-stream)[^;]+|[^;]+[/+](?:json|xml|yaml)|application\/(?:jsonl|x-ndjson|javascript|wasm|rtf)|image\/bmp|font\/[ot]tf)\s*(?:;|$)/i

// 11, the default, takes fifty times as long as 4. A window of 128 KB keeps the memory of a stream below 1 MB.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 17 } }
const zstd = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 17 } }

/** What was written of a stream is sent at once: the next part may come much later. */
const ways: Readonly<Record<Coding, Way>> = {
  zstd: {
    now: (bytes) => zlib.zstdCompressSync(bytes, zstd),
    later: (bytes) => promisify(zlib.zstdCompress)(bytes, zstd),
    stream: () => zlib.createZstdCompress({ ...zstd, flush: constants.ZSTD_e_flush }),
  },
  br: {
    now: (bytes) => zlib.brotliCompressSync(bytes, brotli),
    later: (bytes) => promisify(zlib.brotliCompress)(bytes, brotli),
    stream: () => zlib.createBrotliCompress({ ...brotli, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  gzip: {
    now: (bytes) => zlib.gzipSync(bytes),
    later: (bytes) => promisify(zlib.gzip)(bytes),
    stream: () => zlib.createGzip({ flush: constants.Z_SYNC_FLUSH }),
  },
}

interface Way {
  now(bytes: Uint8Array): Buffer
  later(bytes: Uint8Array): Promise<Buffer>
  stream(): Transform
}

type Body = string | Uint8Array | Readable

/**
 * Compresses the body of a response if that is worth it and the caller accepts it, and adds the headers that say so.
 * The ETag of a compressed body is a strong one of its own, such as `"3;br"` for `"3"`. A weak one would never match
 * `If-Match`, so that clients which read compressed rows could not change them.
 * @returns the body to send; a promise if another thread compresses it
 */
export function compress(reply: FastifyReply, body: Body, type: string): Body | Promise<Buffer> {
  if (!compressible.test(type)) return body
  if (reply.statusCode === 206) {
    addVary(reply, 'Accept-Encoding') // as the whole has (RFC 9110 §15.3.7)
    return body
  }
  if (reply.hasHeader('content-encoding') || /\bno-transform\b/.test(String(reply.getHeader('cache-control'))))
    return body
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isStream = !(bytes instanceof Uint8Array)
  const length = isStream ? Number(reply.getHeader('content-length') ?? minBytes) : bytes.length
  if (length < minBytes || (!isStream && isGzip(bytes))) return body
  addVary(reply, 'Accept-Encoding')
  const coding = chooseCoding(reply.request.headers)
  if (coding === undefined) return body
  reply.header('content-encoding', coding).removeHeader('content-length').removeHeader('accept-ranges')
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string') reply.header('etag', addCoding(etag, coding))
  const way = ways[coding]
  if (isStream) return pipeline(bytes, way.stream(), ignoreError) // the stream that is sent reports it
  return bytes.length <= maxBytesInTurn ? way.now(bytes) : way.later(bytes)
}

/** Whether compressing a media type makes it smaller. */
export function isCompressible(type: string): boolean {
  return compressible.test(type)
}

/** Compresses bytes in another thread. */
export function compressBytes(bytes: Uint8Array, coding: Coding): Promise<Buffer> {
  return ways[coding].later(bytes)
}

/** Chooses the content coding for a caller; undefined if the caller accepts none. */
export function chooseCoding(headers: FastifyRequest['headers']): Coding | undefined {
  const header = headers['accept-encoding']?.toLowerCase()
  if (header === undefined) return undefined
  const allowed = header.includes('*') ? codings.filter((coding) => !isExcluded(header, coding)) : codings
  return negotiator.negotiate(header, [...allowed]) ?? undefined
}

/** Whether a caller that accepts any coding with `*` names one that it does not accept. */
function isExcluded(header: string, coding: Coding): boolean {
  return new RegExp(String.raw`(?:^|,)\s*${coding}\s*;\s*q=0(?:\.0*)?\s*(?:,|$)`).test(header)
}

/** Whether bytes are compressed already, whatever their type says. */
function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

function ignoreError(): void {}

const coded = new RegExp(`;(?:${codings.join('|')})"`, 'g')

/** Weak ETags are those of all codings. */
function addCoding(etag: string, coding: Coding): string {
  return /^".*"$/.test(etag) ? `${etag.slice(0, -1)};${coding}"` : etag
}

/**
 * Removes the codings from the conditions of a request, so that actions compare with the ETags that they know. A tag in
 * the If-None-Match of a read stays as it is if this response would have another coding: it names another response.
 */
export function removeCodings(request: FastifyRequest, isCompressed: boolean): void {
  const { headers, method } = request
  const { 'if-match': change, 'if-none-match': known } = headers
  if (change?.includes(';') === true) headers['if-match'] = change.replaceAll(coded, '"')
  if (known?.includes(';') !== true) return
  if (method !== 'GET' && method !== 'HEAD') headers['if-none-match'] = known.replaceAll(coded, '"')
  else if (isCompressed) headers['if-none-match'] = known.replaceAll(`;${chooseCoding(headers)}"`, '"')
}

/** Adds to a 304 what the response that the caller has says about codings: `Vary`, and the coding of its ETag. */
export function restoreCoding(reply: FastifyReply): void {
  addVary(reply, 'Accept-Encoding')
  const etag = reply.getHeader('etag')
  const coding = chooseCoding(reply.request.headers)
  if (typeof etag !== 'string' || coding === undefined) return
  const { rawHeaders } = reply.request.raw
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'if-none-match')
  const sent = at === -1 ? '' : rawHeaders[at + 1]!
  if (sent.includes(addCoding(etag, coding))) reply.header('etag', addCoding(etag, coding))
}
