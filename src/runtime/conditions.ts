import type { FastifyReply } from 'fastify'
import { etagOf } from '../kit/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import { ItemStream } from './media/item-stream.ts'
import { ActionProblem } from './problem.ts'

/** The parts of a request that conditions are about. */
export interface ConditionalRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Opaque tags without quotes, each with whether it is weak; `*` for any. */
type EntityTags = '*' | readonly { readonly tag: string; readonly isWeak: boolean }[]

const entityTag = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/
const eachEntityTag = new RegExp(entityTag.source, 'g')
const entityTags = new RegExp(String.raw`^${entityTag.source}(?:\s*,\s*${entityTag.source})*$`)

/** Parses If-Match, If-None-Match or an ETag (RFC 9110 §8.8.3); undefined if it is something else. */
function parseEntityTags(header: string): EntityTags | undefined {
  const text = header.trim()
  if (text === '*') return '*'
  if (!entityTags.test(text)) return undefined
  return Array.from(text.matchAll(eachEntityTag), ([, weak, tag]) => ({ tag: tag!, isWeak: weak !== undefined }))
}

/** Whether one of several entity tags is the current one. In a strong comparison, weak tags match nothing. */
function isListed(tags: EntityTags, current: string, comparison: 'strong' | 'weak'): boolean {
  if (tags === '*') return true
  const own = parseEntityTags(current)
  if (own === undefined || own === '*') return false
  const [{ tag, isWeak }] = own as [{ tag: string; isWeak: boolean }]
  if (comparison === 'weak') return tags.some((one) => one.tag === tag)
  return !isWeak && tags.some((one) => !one.isWeak && one.tag === tag)
}

/**
 * Checks the conditions of a request that changes a resource, before the change.
 * @param etag the current ETag of the resource with its quotes; undefined if the resource does not exist
 * @throws a problem 412, or 400 if a header is malformed
 */
export function assertPrecondition({ method, headers }: ConditionalRequest, etag: string | undefined): void {
  if (etag !== undefined && (parseEntityTags(etag) ?? '*') === '*')
    throw new TypeError(
      `context.precondition needs an ETag in double quotes, such as '"3"', not ${JSON.stringify(etag)}`,
    )
  const ifMatch = readTags('If-Match', headers['if-match'])
  if (ifMatch !== undefined && (etag === undefined || !isListed(ifMatch, etag, 'strong')))
    throw new ActionProblem(412, 'The resource has been changed')
  if (method === 'GET' || method === 'HEAD') return // If-None-Match leads to 304
  const ifNoneMatch = readTags('If-None-Match', headers['if-none-match'])
  if (ifNoneMatch !== undefined && etag !== undefined && isListed(ifNoneMatch, etag, 'weak'))
    throw new ActionProblem(412, 'The resource matches If-None-Match')
}

function readTags(name: string, header: string | readonly string[] | undefined): EntityTags | undefined {
  if (header === undefined) return undefined
  const tags = parseEntityTags(String(header))
  if (tags === undefined) throw new ActionProblem(400, `${name} must be "*" or a list of ETags in quotes`)
  return tags
}

/** The value of `Cache-Control` that a method declares. */
export function cacheControlOf({ maxAgeMs, public: isPublic }: NonNullable<ManifestMethod['cache']>): string {
  const age = maxAgeMs === 0 ? 'no-cache' : `max-age=${maxAgeMs / 1000}`
  return `${isPublic === true ? 'public' : 'private'}, ${age}`
}

/** Headers that describe a body, which a 304 does not have. */
const bodyHeaders = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-range']

/** The headers of a response that a method declares with `cache`; undefined for other methods. */
export function makeCaching({
  cache,
}: ManifestMethod): ((reply: FastifyReply, status: number, payload: unknown) => void) | undefined {
  if (cache === undefined) return undefined
  const shared = cacheControlOf(cache)
  const own = cacheControlOf({ maxAgeMs: cache.maxAgeMs })
  const tagOf = rememberLast()
  return (reply, status, payload) => {
    if ((status >= 300 && status !== 304) || payload instanceof ItemStream) return
    if (!reply.hasHeader('cache-control')) {
      // A response to a token may be meant for its owner only.
      reply.header('cache-control', reply.request.headers.authorization === undefined ? shared : own)
    }
    addVary(reply, 'Authorization')
    const isWhole = typeof payload === 'string' || payload instanceof Uint8Array
    if (status === 200 && isWhole && !reply.hasHeader('etag')) reply.header('etag', tagOf(payload))
  }
}

/** Longer texts are not kept in memory to compare with. */
const maxKept = 4096

/** Makes a function that returns the ETag of a body. Many requests in a row have the same one. */
function rememberLast(): (payload: string | Uint8Array) => string {
  let last = ''
  let lastTag = ''
  return (payload) => {
    if (typeof payload !== 'string' || payload.length > maxKept) return etagOf(payload)
    if (payload !== last || lastTag === '') {
      lastTag = etagOf(payload)
      last = payload
    }
    return lastTag
  }
}

/** What identifies a version of a body. */
interface Validators {
  readonly etag: unknown
  readonly lastModified: unknown
}

/** Whether the caller has the response already (RFC 9110 §13.2.2). */
export function isKnown(reply: FastifyReply, status: number): boolean {
  if (status !== 200) return false
  return hasVersion(reply.request.headers, {
    etag: reply.getHeader('etag'),
    lastModified: reply.getHeader('last-modified'),
  })
}

/** Whether the caller of a read has a version of its response. */
export function hasVersion(headers: ConditionalRequest['headers'], { etag, lastModified }: Validators): boolean {
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch !== undefined) {
    if (typeof etag === 'string' && ifNoneMatch === etag && etag.startsWith('"')) return true // the usual case
    const tags = parseEntityTags(String(ifNoneMatch))
    return typeof etag === 'string' && tags !== undefined && isListed(tags, etag, 'weak')
  }
  const modified = parseHttpDate(lastModified)
  const since = parseHttpDate(headers['if-modified-since'])
  return modified !== undefined && since !== undefined && modified <= since
}

/** Removes what a 304 must not say about a body. */
export function removeBodyHeaders(reply: FastifyReply): void {
  for (const name of bodyHeaders) if (reply.hasHeader(name)) reply.removeHeader(name)
}

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Parses the preferred form of HTTP dates (RFC 9110 §5.6.7), to milliseconds. */
function parseHttpDate(header: unknown): number | undefined {
  if (typeof header !== 'string' || !httpDate.test(header)) return undefined
  const time = Date.parse(header)
  return Number.isNaN(time) ? undefined : time
}

/** Adds a name to `Vary`. */
export function addVary(reply: FastifyReply, name: string): void {
  const known = String(reply.getHeader('vary') ?? '')
  if (known === '') return void reply.header('vary', name)
  if (known === '*' || known.split(',').some((one) => one.trim().toLowerCase() === name.toLowerCase())) return
  reply.header('vary', `${known}, ${name}`)
}
