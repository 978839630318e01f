import type { FastifyInstance, FastifyRequest, RequestPayload, RouteOptions } from 'fastify'
import type { ManifestMethod } from '../../release/index.ts'
import { removeFiles, type ReadBody } from './body-reader.ts'
import { linger } from './linger.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Reads the body of a method with `content` or `raw`. */
    readonly readBody?: ReadBody
  }
}

/** Whether a method needs a reader of its own. All others get JSON, read by the app. */
export function needsReader({ requestTypes, raw }: ManifestMethod): boolean {
  return requestTypes !== undefined || raw === true
}

/** Mounts routes whose bodies have other types than JSON, in a context of their own: others lose no time. */
export async function mountContent(app: FastifyInstance, routes: readonly RouteOptions[]): Promise<void> {
  if (routes.length === 0) return
  await app.register(async (context) => {
    context.removeAllContentTypeParsers()
    context.addContentTypeParser('*', async (request: FastifyRequest, payload: RequestPayload) => {
      try {
        return await request.routeOptions.config.readBody!(request, payload)
      } catch (error) {
        payload.pause() // the rest of the body is not read
        throw error
      }
    })
    context.addHook('onRequest', (request, reply, done) => {
      reply.raw.once('close', () => {
        removeFiles(request)
        linger(request.raw)
      })
      done()
    })
    for (const route of routes) context.route(route)
  })
}
