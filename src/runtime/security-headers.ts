import helmet from '@fastify/helmet'
import Fastify from 'fastify'

/** Security headers for browsers. */
export interface SecurityHeaders {
  /** Headers that also matter for JSON. */
  readonly json: Readonly<Record<string, string>>
  /** All headers, for responses that a browser may display. */
  readonly page: Readonly<Record<string, string>>
}

const perResponseHeaders = new Set(['content-length', 'content-type', 'date', 'connection'])
const jsonHeaders = new Set(['x-content-type-options', 'cross-origin-resource-policy', 'strict-transport-security'])

/**
 * Loads the headers that helmet sets. They are constant, so helmet runs once. JSON responses get only the headers that
 * are not about pages: sending all of them costs a fifth of the throughput.
 * @param isHttps callers use https, and browsers are told to use only https
 */
export async function loadSecurityHeaders(isHttps: boolean): Promise<SecurityHeaders> {
  const app = Fastify()
  await app.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity: isHttps })
  app.get('/', (_request, reply) => reply.send())
  const { headers } = await app.inject('/')
  await app.close()
  const page = Object.entries(headers).flatMap(([name, value]) =>
    perResponseHeaders.has(name) ? [] : [[name, String(value)] as const],
  )
  return { page: Object.fromEntries(page), json: Object.fromEntries(page.filter(([name]) => jsonHeaders.has(name))) }
}
