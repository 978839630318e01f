import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { docsRedirectPath, type Guard } from '../../auth/index.ts'
import { installation, sha256, type Settings } from '../../kit/index.ts'
import type { Manifest } from '../../release/index.ts'
import type { ApiRoute } from '../openapi/api.ts'
import { addRoutes } from '../openapi/describe-plugin-route.ts'
import { writeOpenApi } from '../openapi/make-open-api.ts'
import { pageHtml, signedInHtml } from './docs-page.ts'
import { pageCss, pageScript } from './browser-files.ts'

export interface DocsSources {
  /** The manifest of the release being served. */
  manifest(): Manifest
  /** The routes of its plugins, known when the first request arrives. */
  readonly pluginRoutes: readonly ApiRoute[]
  readonly guard: Guard
  /** Who may read the reference: everyone, callers with a valid token, or no one. */
  readonly access: Settings['docs']
  /** The name of the API; by default the host of `serverUrl`, or `API`. */
  readonly title: string | undefined
  /** What the API is. */
  readonly description: string | undefined
  /** The public URL of the API; by default the origin from which the document was loaded. */
  readonly serverUrl: string | undefined
}

/** Mounts `/openapi.json` and `/docs`, which displays it. */
export function mountDocs(sources: DocsSources): FastifyPluginAsync {
  return async (app) => {
    if (sources.access === 'off') return
    const authorize = async ({ headers }: FastifyRequest) => {
      if (sources.access === 'private') await sources.guard.authorize(headers.authorization, [])
    }
    mountDocument(app, sources, authorize)
    mountPage(app, sources, authorize)
    mountSignedIn(app)
    mountViewer(app)
  }
}

interface DocumentBytes {
  readonly bytes: Buffer
  readonly etag: string
}

type Authorize = (request: FastifyRequest) => Promise<void>

function mountDocument(app: FastifyInstance, sources: DocsSources, authorize: Authorize): void {
  const { serverUrl, title, description } = sources
  let made: { readonly of: Manifest; readonly load: () => Promise<DocumentBytes> } | undefined
  const make = async (manifest: Manifest): Promise<DocumentBytes> => {
    const api = addRoutes(manifest, sources.pluginRoutes)
    const text = await writeOpenApi(api, { serverUrl, title, description })
    // Stored as bytes. From a string, each response would create its own copy and keep it until the caller has read it.
    return { bytes: Buffer.from(text), etag: `"${sha256(text).slice(0, 32)}"` }
  }
  app.get('/openapi.json', { onRequest: authorize }, async (request, reply) => {
    const manifest = sources.manifest()
    if (made?.of !== manifest) made = { of: manifest, load: memoize(() => make(manifest)) }
    const { bytes, etag } = await made.load()
    if (isKnown(request, reply, etag)) return reply
    return reply.type('application/json; charset=utf-8').send(bytes)
  })
}

function mountPage(app: FastifyInstance, sources: DocsSources, authorize: Authorize): void {
  const policy = makePolicy(sources.serverUrl)
  app.get('/docs', async (request, reply) => {
    try {
      await authorize(request)
    } catch (error) {
      if (request.headers.accept?.includes('text/html') !== true) throw error
      // The page itself contains no data: it asks for a token and loads the document with it.
      reply.code(401).header('www-authenticate', 'Bearer realm="waypost"')
    }
    reply.header('content-security-policy', policy).header('cache-control', 'no-cache')
    reply.header('cross-origin-opener-policy', 'same-origin-allow-popups')
    return reply.type('text/html; charset=utf-8').send(pageHtml)
  })
  for (const [name, type, text] of [
    ['page.js', 'text/javascript', pageScript],
    ['page.css', 'text/css', pageCss],
  ] as const) {
    const etag = `"${sha256(text).slice(0, 32)}"`
    app.get(`/docs/${name}`, async (request, reply) => {
      if (isKnown(request, reply, etag)) return reply
      return reply.type(`${type}; charset=utf-8`).send(text)
    })
  }
}

/** Mounts the page at which the authorization window ends. Its address contains the code. */
function mountSignedIn(app: FastifyInstance): void {
  app.get(docsRedirectPath, (_request, reply) => {
    reply.header(
      'content-security-policy',
      "default-src 'none'; style-src 'self'; img-src data:; frame-ancestors 'none'",
    )
    // The same policy as on the pages before it. Otherwise the window would lose the connection to the page that opened
    // it.
    reply.header('cross-origin-opener-policy', 'unsafe-none').header('cache-control', 'no-store')
    return reply.type('text/html; charset=utf-8').send(signedInHtml)
  })
}

/** Allows only resources of this origin, and requests to the API. */
function makePolicy(serverUrl: string | undefined): string {
  const origin = serverUrl === undefined ? '' : ` ${new URL(serverUrl).origin}`
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'", // the viewer positions elements with style attributes
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src 'self'${origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const viewerFile = path.join(installation, 'dist/vendor/viewer.js.gz')
const unzip = promisify(gunzip)

/**
 * Mounts the viewer, which is large and needs no token. It is read and decompressed once and shared by all responses,
 * so that slow or disconnected callers use no file or memory of their own.
 */
function mountViewer(app: FastifyInstance): void {
  const load = memoize(async () => {
    const packed = await readFile(viewerFile)
    return { packed, unpack: memoize(() => unzip(packed)), etag: `"${sha256(packed).slice(0, 32)}"` }
  })
  app.get('/docs/viewer.js', async (request, reply) => {
    const { packed, unpack, etag } = await load()
    if (isKnown(request, reply, etag)) return reply
    const vary = [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', ')
    reply.type('text/javascript; charset=utf-8').header('vary', vary)
    if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(await unpack())
    return reply.header('content-encoding', 'gzip').send(packed)
  })
}

function acceptsGzip(acceptEncoding = ''): boolean {
  return acceptEncoding.split(',').some((one) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one))
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

/** Answers 304 if the client has this version. */
function isKnown(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag).header('cache-control', 'no-cache')
  const known = request.headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
  if (known === true) void reply.code(304).send()
  return known === true
}
