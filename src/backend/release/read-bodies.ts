import { isUtf8 } from 'node:buffer'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'

/**
 * Reads JSON, also by gzip: most of a release is text that says the same again and again. A route's `bodyLimit` counts
 * for what came over the line and for what it is when unpacked.
 */
export function readBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const bytes = await unpack(request, body)
    if (!isUtf8(bytes)) throw errors.WP_BACKEND_BODY({ reason: 'it is not UTF-8' })
    return new Promise((resolve, reject) => {
      void parse(request, bytes.toString('utf8'), (error, value) => {
        if (error === null) resolve(value)
        else reject(errors.WP_BACKEND_BODY({ reason: 'it is not valid JSON, or has a forbidden key' }))
      })
    })
  })
}

async function unpack(request: FastifyRequest, body: Buffer): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity') return body
  if (encoding !== 'gzip') {
    // RFC 9110 §15.5.16 tells so what would do.
    throw errors.WP_BACKEND_BODY_ENCODING({ encoding }, { headers: { 'accept-encoding': 'gzip, identity' } })
  }
  const limit = request.routeOptions.bodyLimit
  return new Promise((resolve, reject) => {
    gunzip(body, { maxOutputLength: limit }, (error, unpacked) => {
      if (error === null) resolve(unpacked)
      else if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') reject(errors.WP_BACKEND_BODY_SIZE({ limit }))
      else reject(errors.WP_BACKEND_BODY({ reason: 'it is not valid gzip data' }))
    })
  })
}
