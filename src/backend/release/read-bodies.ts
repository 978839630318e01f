import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'

/** A body as it came. */
export class PackedBody {
  readonly bytes: Buffer
  /** By gzip. */
  readonly isPacked: boolean

  constructor(bytes: Buffer, isPacked: boolean) {
    this.bytes = bytes
    this.isPacked = isPacked
  }
}

/** Takes JSON, also by gzip, and leaves it as it is: it is read in a thread. */
export function takeBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
    if (encoding === 'identity' || encoding === 'gzip') return new PackedBody(body, encoding === 'gzip')
    // RFC 9110 §15.5.16 tells so what would do.
    throw errors.WP_BACKEND_BODY_ENCODING({ encoding }, { headers: { 'accept-encoding': 'gzip, identity' } })
  })
}
