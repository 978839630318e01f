import { isUtf8 } from 'node:buffer'
import { findJsonExcess, hasInfiniteNumber, isStorable } from '../kit/index.ts'
import { errorCodes, type FastifyInstance, type FastifyRequest, type RequestPayload } from 'fastify'
import { errors } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether an empty body counts as none: generated clients send a content type whenever a body is possible. */
    readonly acceptsNoBody?: () => boolean
  }
}

// Escapes of characters that databases cannot store: NUL and halves of surrogate pairs.
const unstorableEscape = /\\u(?:0000|[dD][89a-fA-F])/

/**
 * Parses JSON bodies. Rejects bodies that are not UTF-8 or that contain what cannot be stored unchanged: PostgreSQL
 * rejects NUL, an unpaired surrogate is read back as another character, and JSON has no infinity, which is what `1e400`
 * becomes.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const encoding = request.headers['content-encoding']?.trim().toLowerCase()
    if (encoding !== undefined && encoding !== 'identity') {
      // RFC 9110 §15.5.16: the response lists the accepted encodings.
      return done(errors.WP_RUNTIME_BODY_ENCODING({ encoding }, { headers: { 'accept-encoding': 'identity' } }))
    }
    const limit = request.routeOptions.bodyLimit
    const declaredLength = Number(request.headers['content-length'])
    if (declaredLength > limit) return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    return readBody(payload, limit, (failure, bytes) => {
      if (bytes === undefined) return done(failure)
      if (bytes.length === 0 && acceptsNoBody(request)) return done(null, undefined)
      if (findJsonExcess(bytes, { levels: maxDepth }) !== undefined)
        return done(errors.WP_RUNTIME_BODY_DEPTH({ limit: maxDepth }))
      if (!isUtf8(bytes)) return done(errors.WP_RUNTIME_BODY_JSON({ reason: 'it is not UTF-8' }))
      const text = bytes.toString('utf8')
      return parse(request, text, (error, value) => {
        if (error !== null) return done(findForbiddenKeyError(text) ?? error)
        if (unstorableEscape.test(text) && !isAllStorable(value)) {
          return done(
            errors.WP_RUNTIME_BODY_JSON({ reason: 'a string in it contains a NUL character or an unpaired surrogate' }),
          )
        }
        if (hasInfiniteNumber(text, value)) {
          return done(
            errors.WP_RUNTIME_BODY_JSON({ reason: 'a number in it is larger than 1.8e308 or less than -1.8e308' }),
          )
        }
        return done(null, value)
      })
    })
  })
}

/** Without a declaration of the route: a DELETE, and routes whose schema has no body. */
function acceptsNoBody({ method, routeOptions: { config, schema } }: FastifyRequest): boolean {
  const declared = config.acceptsNoBody?.()
  if (declared !== undefined) return declared
  return schema === undefined ? method === 'DELETE' : schema.body === undefined
}

/** Maximum nesting of arrays and objects. Code that follows a recursive schema needs a stack frame per level. */
const maxDepth = 100

/** Returns the error for valid JSON that contains a forbidden key; undefined if the text is not valid JSON. */
function findForbiddenKeyError(text: string) {
  try {
    const key = findForbiddenKey(JSON.parse(text.replace(/^\uFEFF/, '')))
    return key === undefined ? undefined : errors.WP_RUNTIME_BODY_JSON({ reason: `it has the forbidden key ${key}` })
  } catch {
    return undefined
  }
}

/**
 * Finds a key that Fastify's parser rejects because it could change prototypes. Not recursive, because bodies may be
 * deeply nested.
 */
function findForbiddenKey(value: unknown): string | undefined {
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) return '__proto__'
    const { constructor: made } = next as { readonly constructor: unknown }
    if (
      Object.hasOwn(next, 'constructor') &&
      typeof made === 'object' &&
      made !== null &&
      Object.hasOwn(made, 'prototype')
    )
      return 'constructor.prototype'
    for (const one of Object.values(next)) waiting.push(one)
  }
  return undefined
}

type ReadCallback = (failure: Error | null, bytes?: Buffer) => void

/** Reads a body. A body that arrives in one chunk, as most do, is not copied. */
function readBody(payload: RequestPayload, limit: number, done: ReadCallback): void {
  const parts: Buffer[] = []
  let length = 0
  const read = (part: Buffer) => {
    if (length > limit) return
    length += part.length
    if (length > limit) done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    else parts.push(part)
  }
  const end = () => {
    if (length > limit) return
    const [first] = parts
    const bytes = parts.length === 1 ? first! : Buffer.concat(parts)
    parts.length = 0 // the listeners live until the response is sent
    done(null, bytes)
  }
  if (payload.readableEnded) return end() // see the listener
  payload.on('data', read)
  payload.on('end', end)
  payload.on('error', (error: Error) => length <= limit && done(Object.assign(error, { statusCode: 400 })))
}

/**
 * Whether all texts in a value, including keys, can be stored unchanged. Not recursive, because bodies may be deeply
 * nested.
 */
function isAllStorable(value: unknown): boolean {
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'string' && !isStorable(next)) return false
    if (typeof next === 'object' && next !== null) for (const [key, one] of Object.entries(next)) waiting.push(key, one)
  }
  return true
}
