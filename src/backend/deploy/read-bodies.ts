import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errors } from '../errors.ts'

/** An unparsed body. */
export class UnparsedBody {
  readonly bytes: Buffer
  /** With gzip. */
  readonly isCompressed: boolean

  constructor(bytes: Buffer, isCompressed: boolean) {
    this.bytes = bytes
    this.isCompressed = isCompressed
  }
}

/** Accepts JSON, optionally compressed with gzip, without parsing it; a thread does that. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
    if (encoding === 'identity' || encoding === 'gzip') return new UnparsedBody(body, encoding === 'gzip')
    // RFC 9110 §15.5.16: the response lists the accepted encodings.
    throw errors.WP_BACKEND_BODY_ENCODING({ encoding }, { headers: { 'accept-encoding': 'gzip, identity' } })
  })
}
