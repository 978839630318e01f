import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { docsClientId, docsRedirectPath, type Guard } from '../../auth/index.ts'
import { etagOf, type Settings } from '../../kit/index.ts'
import type { Manifest } from '../../release/index.ts'
import type { ApiRoute } from '../openapi/api.ts'
import { addRoutes } from '../openapi/describe-plugin-route.ts'
import { writeOpenApi } from '../openapi/make-open-api.ts'
import { queryOf } from '../lead-to-page.ts'
import { describePortal, type PortalConfig } from '../ui/mount-portal.ts'
import { mountUi, type PageConfig } from '../ui/mount-ui.ts'
import { mountSignedIn } from './signed-in.ts'

export interface DocsSources {
  /** The manifest of the release being served. */
  manifest(): Manifest
  /** The routes of its plugins, known when the first request arrives. */
  readonly pluginRoutes: readonly ApiRoute[]
  readonly guard: Guard
  /** `docs` says who may read the reference: everyone, callers with a valid token, or no one. */
  readonly settings: Settings
  /** The public URL of the API. */
  readonly issuer: string
  /** Whether this is `dev`, which has several host names: the document then names none. */
  readonly isDevelopment: boolean
}

/** Mounts `/openapi.json` and `/docs`, which displays it. */
export function mountDocs(sources: DocsSources): FastifyPluginAsync {
  const { settings, guard, issuer } = sources
  return async (app) => {
    if (settings.docs === 'off') return
    const base = new URL(issuer).pathname.replace(/\/$/, '')
    const authorize = async ({ headers }: FastifyRequest) => {
      if (settings.docs === 'private') await guard.authorize(headers.authorization, [])
    }
    mountDocument(app, sources, authorize)
    mountSignedIn(app)
    if (settings.portal) mountRedirects(app, base)
    else await app.register(mountPages(sources, authorize))
  }
}

interface DocumentBytes {
  readonly bytes: Buffer
  readonly etag: string
}

type Authorize = (request: FastifyRequest) => Promise<void>

function mountDocument(app: FastifyInstance, sources: DocsSources, authorize: Authorize): void {
  const { title, description } = sources.settings
  const options = {
    serverUrl: sources.isDevelopment ? undefined : sources.issuer,
    title: title || undefined,
    description: description || undefined,
  }
  let made: { readonly of: Manifest; readonly load: () => Promise<DocumentBytes> } | undefined
  const make = async (manifest: Manifest): Promise<DocumentBytes> => {
    const text = await writeOpenApi(addRoutes(manifest, sources.pluginRoutes), options)
    // Stored as bytes. From a string, each response would create its own copy and keep it until the caller has read it.
    return { bytes: Buffer.from(text), etag: etagOf(text) }
  }
  app.get('/openapi.json', { onRequest: authorize }, async (request, reply) => {
    const manifest = sources.manifest()
    if (made?.of !== manifest) made = { of: manifest, load: memoize(() => make(manifest)) }
    const { bytes, etag } = await made.load()
    if (isKnown(request, reply, etag)) return reply
    return reply.type('application/json; charset=utf-8').send(bytes)
  })
}

/** Mounts the pages of the reference. They contain nothing of the API: they load the document, if necessary with a token. */
function mountPages({ settings, issuer, isDevelopment }: DocsSources, authorize: Authorize): FastifyPluginAsync {
  return mountUi({
    path: '/docs',
    file: 'docs.html',
    issuer,
    hasPageAtPath: true,
    // Keeps the window that authorizes connected to the page. Pages of user routes cannot open it: theirs differs.
    openerPolicy: 'same-origin-allow-popups',
    async prepare(request, reply) {
      try {
        await authorize(request)
      } catch (error) {
        if (request.headers.accept?.includes('text/html') !== true) throw error
        reply.code(401).header('www-authenticate', 'Bearer realm="waypost"')
      }
    },
    config: (): PageConfig<PortalConfig> => ({
      clientId: docsClientId,
      redirectPath: docsRedirectPath,
      ...describePortal({ issuer, isDevelopment, settings, service: settings.title || new URL(issuer).host }),
    }),
  })
}

/** The portal contains the reference. */
function mountRedirects(app: FastifyInstance, base: string): void {
  const list = `${base}/portal/reference`
  const leadToList = (request: FastifyRequest, reply: FastifyReply) => reply.redirect(list + queryOf(request))
  app.get('/docs', leadToList)
  app.get<{ Params: { operation: string } }>('/docs/operation/:operation', ({ params }, reply) =>
    reply.redirect(`${list}/${encodeURIComponent(params.operation)}`),
  )
  app.get('/docs/*', leadToList)
}

/** Runs work once. If it fails, the next caller tries again. */
function memoize<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}

/** Responds with 304 if the client has this version. */
function isKnown(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag).header('cache-control', 'no-cache')
  const known = request.headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
  if (known === true) void reply.code(304).send()
  return known === true
}
