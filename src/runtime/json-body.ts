import { isUtf8 } from 'node:buffer'
import { findJsonExcess, isStorable } from '../kit/index.ts'
import { errorCodes, type FastifyInstance, type RequestPayload } from 'fastify'
import { errors } from './errors.ts'

// Escapes that may stand for what no database stores as it is: NUL, and halves of surrogate pairs.
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/

/**
 * Reads JSON bodies. One that is not UTF-8, or that holds text which cannot be stored as it was sent, is refused: NUL is
 * an error of PostgreSQL, and a lone surrogate comes back as another character.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const encoding = request.headers['content-encoding']?.trim().toLowerCase()
    if (encoding !== undefined && encoding !== 'identity') {
      // RFC 9110 §15.5.16 tells so what would do.
      return done(errors.WP_RUNTIME_BODY_ENCODING({ encoding }, { headers: { 'accept-encoding': 'identity' } }))
    }
    const limit = request.routeOptions.bodyLimit
    const announced = Number(request.headers['content-length'])
    if (announced > limit) return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    return collect(payload, limit, (failure, bytes) => {
      if (bytes === undefined) return done(failure)
      if (findJsonExcess(bytes, { levels: maxDepth }) !== undefined)
        return done(errors.WP_RUNTIME_BODY_DEPTH({ limit: maxDepth }))
      if (!isUtf8(bytes)) return done(errors.WP_RUNTIME_BODY_JSON({ reason: 'it is not UTF-8' }))
      const text = bytes.toString('utf8')
      return parse(request, text, (error, value) => {
        if (error !== null) return done(refusalOf(text) ?? error)
        if (suspicious.test(text) && !isAllStorable(value)) {
          return done(
            errors.WP_RUNTIME_BODY_JSON({ reason: 'a string in it contains a NUL character or an unpaired surrogate' }),
          )
        }
        return done(null, value)
      })
    })
  })
}

/** Levels of arrays and objects at most: code that follows a recursive schema needs a stack frame for each. */
const maxDepth = 100

/** Of a text that is JSON, but has a key by which objects of this process could be changed. */
function refusalOf(text: string) {
  try {
    const key = findRefused(JSON.parse(text.replace(/^\uFEFF/, '')))
    return key === undefined ? undefined : errors.WP_RUNTIME_BODY_JSON({ reason: `it has the forbidden key ${key}` })
  } catch {
    return undefined
  }
}

/** The keys that Fastify's parser refuses. Walks without recursion: bodies may be deep. */
function findRefused(value: unknown): string | undefined {
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

type Collected = (failure: Error | null, bytes?: Buffer) => void

/** Reads a body. Most come in one piece, which is not copied, as Fastify would. */
function collect(payload: RequestPayload, limit: number, done: Collected): void {
  const parts: Buffer[] = []
  let length = 0
  const read = (part: Buffer) => {
    if (length > limit) return
    length += part.length
    if (length > limit) done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    else parts.push(part)
  }
  const end = () => {
    if (length <= limit) done(null, parts.length === 1 ? parts[0]! : Buffer.concat(parts))
  }
  if (payload.readableEnded) return end() // see the listener
  payload.on('data', read)
  payload.on('end', end)
  payload.on('error', (error: Error) => length <= limit && done(Object.assign(error, { statusCode: 400 })))
}

/** Whether every text of a value, its keys too, can be stored as it is. Walks without recursion: bodies may be deep. */
function isAllStorable(value: unknown): boolean {
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'string' && !isStorable(next)) return false
    if (typeof next === 'object' && next !== null) for (const [key, one] of Object.entries(next)) waiting.push(key, one)
  }
  return true
}
