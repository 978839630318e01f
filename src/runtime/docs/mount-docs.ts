import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { docsRedirectPath, type Guard } from '../../auth/index.ts'
import { installation, sha256, type Settings } from '../../kit/index.ts'
import type { Manifest } from '../../release/index.ts'
import { makeOpenApi } from '../openapi/make-open-api.ts'
import { pageCss, pageHtml, signedInHtml } from './docs-page.ts'
import { pageScript } from './docs-script.ts'

export interface DocsSources {
  /** Of the release that is served now. */
  manifest(): Manifest
  readonly guard: Guard
  /** Who may read them: everybody, who has a valid token, or nobody. */
  readonly access: Settings['docs']
  /** What the API is called; without, by the name of the project. */
  readonly title: string | undefined
  /** Where callers reach the API; without, where they loaded the document from. */
  readonly serverUrl: string | undefined
  /** Redirect `/` to them, unless the project has a route there. */
  readonly redirectRoot: boolean
}

/** `/openapi.json`, and `/docs`, which shows it. */
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
    const hasRoot = sources.manifest().routes.some((route) => route.path === '/')
    if (sources.redirectRoot && !hasRoot) app.get('/', (_request, reply) => reply.redirect('/docs'))
  }
}

type Authorize = (request: FastifyRequest) => Promise<void>

function mountDocument(app: FastifyInstance, sources: DocsSources, authorize: Authorize): void {
  const { serverUrl, title } = sources
  let made: { readonly of: Manifest; readonly bytes: Buffer; readonly etag: string } | undefined
  const make = (manifest: Manifest) => {
    const text = JSON.stringify(makeOpenApi(manifest, { serverUrl, title }))
    // Bytes, since each response would make its own of a text and keep them until its caller has read them.
    return { of: manifest, bytes: Buffer.from(text), etag: `"${sha256(text).slice(0, 32)}"` }
  }
  app.get('/openapi.json', { onRequest: authorize }, async (request, reply) => {
    const manifest = sources.manifest()
    if (made?.of !== manifest) made = make(manifest)
    if (isKnown(request, reply, made.etag)) return reply
    return reply.type('application/json; charset=utf-8').send(made.bytes)
  })
}

function mountPage(app: FastifyInstance, sources: DocsSources, authorize: Authorize): void {
  const policy = makePolicy(sources.serverUrl)
  app.get('/docs', async (request, reply) => {
    try {
      await authorize(request)
    } catch (error) {
      if (request.headers.accept?.includes('text/html') !== true) throw error
      // The page itself tells nothing: it asks for a token and loads the document with it.
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

/** The page that a window ends at in which somebody authorized the reference; its address carries the code. */
function mountSignedIn(app: FastifyInstance): void {
  app.get(docsRedirectPath, (_request, reply) => {
    reply.header(
      'content-security-policy',
      "default-src 'none'; style-src 'self'; img-src data:; frame-ancestors 'none'",
    )
    // As the pages before it: else the window would be cut off from the one that opened it and waits for it.
    reply.header('cross-origin-opener-policy', 'unsafe-none').header('cache-control', 'no-store')
    return reply.type('text/html; charset=utf-8').send(signedInHtml)
  })
}

/** Nothing is loaded from elsewhere, and nothing is sent elsewhere but requests that somebody tries out. */
function makePolicy(serverUrl: string | undefined): string {
  const origin = serverUrl === undefined ? '' : ` ${new URL(serverUrl).origin}`
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'", // the viewer positions things by style attributes
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
 * The viewer, which needs no token and is large: read and unpacked once, and shared by all responses. Callers who leave,
 * or who read slowly, hold no file and no memory.
 */
function mountViewer(app: FastifyInstance): void {
  const load = once(async () => {
    const packed = await readFile(viewerFile)
    return { packed, unpack: once(() => unzip(packed)), etag: `"${sha256(packed).slice(0, 32)}"` }
  })
  app.get('/docs/viewer.js', async (request, reply) => {
    const { packed, unpack, etag } = await load()
    if (isKnown(request, reply, etag)) return reply
    const vary = [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', ')
    reply.type('text/javascript; charset=utf-8').header('vary', vary)
    if (!takesGzip(request.headers['accept-encoding'])) return reply.send(await unpack())
    return reply.header('content-encoding', 'gzip').send(packed)
  })
}

function takesGzip(acceptEncoding = ''): boolean {
  return acceptEncoding.split(',').some((one) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one))
}

/** Does work once; when it fails the next caller tries again. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}

/** Answers 304 to who has it already. */
function isKnown(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag).header('cache-control', 'no-cache')
  const known = request.headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
  if (known === true) void reply.code(304).send()
  return known === true
}
