import helmet from '@fastify/helmet'
import Fastify from 'fastify'

/** What tells browsers to be careful. */
export interface SecurityHeaders {
  /** Those that mean something on JSON too. */
  readonly json: Readonly<Record<string, string>>
  /** All of them, for what a browser may show. */
  readonly page: Readonly<Record<string, string>>
}

const ofEachAnswer = new Set(['content-length', 'content-type', 'date', 'connection'])
const onJson = new Set(['x-content-type-options', 'cross-origin-resource-policy', 'strict-transport-security'])

/**
 * The headers that helmet sets. They are the same for every answer, so it is asked once; and JSON gets only those that
 * are not about pages: all of them would cost a fifth of the answers that a server can give in a second.
 *
 * @param isHttps callers reach the server by https, and browsers are told to keep to that
 */
export async function loadSecurityHeaders(isHttps: boolean): Promise<SecurityHeaders> {
  const app = Fastify()
  await app.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity: isHttps })
  app.get('/', (_request, reply) => reply.send())
  const { headers } = await app.inject('/')
  await app.close()
  const page = Object.entries(headers).flatMap(([name, value]) =>
    ofEachAnswer.has(name) ? [] : [[name, String(value)] as const],
  )
  return { page: Object.fromEntries(page), json: Object.fromEntries(page.filter(([name]) => onJson.has(name))) }
}
