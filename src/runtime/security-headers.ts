import helmet from '@fastify/helmet'
import Fastify from 'fastify'

/** Headers that every answer carries. */
export type SecurityHeaders = Readonly<Record<string, string>>

const ofEachAnswer = new Set(['content-length', 'content-type', 'date', 'connection'])

/**
 * The headers that helmet sets. They are the same for every answer, so it is asked once: setting them again and again
 * the way helmet does costs as much as all the rest of a short request.
 *
 * @param isHttps callers reach the server by https, and browsers are told to keep to that
 */
export async function loadSecurityHeaders(isHttps: boolean): Promise<SecurityHeaders> {
  const app = Fastify()
  await app.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity: isHttps })
  app.get('/', (_request, reply) => reply.send())
  const { headers } = await app.inject('/')
  await app.close()
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (ofEachAnswer.has(name) ? [] : [[name, String(value)]])),
  )
}
