import { isUtf8 } from 'node:buffer'
import { findForbiddenKey, findJsonExcess, hasInfiniteNumber } from '../kit/index.ts'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { collectBody } from './bodies/collect-body.ts'
import { errors } from './errors.ts'
import type { BodyCallback } from './lean-messages.ts'
import { declareField } from './request-fields.ts'
import { hasUnstorableEscape } from './unstorable-escapes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The length of a JSON body. */
    bodyBytes: number
  }
  interface FastifyContextConfig {
    /** Whether an empty body counts as none: generated clients send a content type whenever a body is possible. */
    readonly acceptsNoBody?: () => boolean
  }
}

/**
 * Parses JSON bodies. Rejects bodies that are not UTF-8 or that contain what cannot be stored unchanged: PostgreSQL
 * rejects NUL, an unpaired surrogate is read back as another character, and JSON has no infinity, which is what `1e400`
 * becomes.
 */
export function readJsonBodies(app: FastifyInstance): void {
  declareField(app, 'bodyBytes', 0)
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
    const read: BodyCallback = (failure, bytes) => {
      if (bytes === undefined) return done(failure)
      if (bytes.length === 0 && acceptsNoBody(request)) return done(null, undefined)
      request.bodyBytes = bytes.length
      let value: unknown
      try {
        value = parseJsonBody(bytes)
      } catch (error) {
        return done(error as Error)
      }
      return done(null, value)
    }
    collectBody(payload, limit, read)
  })
}

/** Without a declaration of the route: a DELETE, and routes whose schema has no body. */
function acceptsNoBody({ method, routeOptions: { config, schema } }: FastifyRequest): boolean {
  const declared = config.acceptsNoBody?.()
  if (declared !== undefined) return declared
  return schema === undefined ? method === 'DELETE' : schema.body === undefined
}

const byteOrderMark = 0xfeff

/** Maximum nesting of arrays and objects. Code that follows a recursive schema needs a stack frame per level. */
const maxDepth = 100

/** @throws WP_RUNTIME_BODY_JSON, WP_RUNTIME_BODY_DEPTH */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw errors.WP_RUNTIME_BODY_JSON({ reason: 'it is empty' })
  if (findJsonExcess(bytes, { levels: maxDepth }) !== undefined) throw errors.WP_RUNTIME_BODY_DEPTH({ limit: maxDepth })
  if (!isUtf8(bytes)) throw errors.WP_RUNTIME_BODY_JSON({ reason: 'it is not UTF-8' })
  const marked = bytes.toString('utf8')
  const text = marked.charCodeAt(0) === byteOrderMark ? marked.slice(1) : marked
  const value = parseText(text)
  const reason = findReason(text, value)
  if (reason !== undefined) throw errors.WP_RUNTIME_BODY_JSON({ reason })
  return value
}

/** Returns why a JSON text cannot be part of a body. */
export function findJsonProblem(text: string): string | undefined {
  if (findJsonExcess(Buffer.from(text), { levels: maxDepth }) !== undefined)
    return `it has more than ${maxDepth} levels`
  try {
    return findReason(text, JSON.parse(text))
  } catch {
    return 'it cannot be parsed'
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw errors.WP_RUNTIME_BODY_JSON({ reason: 'it cannot be parsed' })
  }
}

/** Returns why valid JSON is rejected. Looks at the text, because listing the keys of a value may take as long as parsing it. */
function findReason(text: string, value: unknown): string | undefined {
  const key = findForbiddenKey(text, value)
  if (key !== undefined) return `it has the forbidden key ${key}`
  if (hasUnstorableEscape(text)) return 'a string in it contains a NUL character or an unpaired surrogate'
  if (hasInfiniteNumber(text)) return 'a number in it is larger than 1.8e308 or less than -1.8e308'
  return undefined
}
