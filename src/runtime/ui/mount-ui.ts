import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { version } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { queryOf } from '../lead-to-page.ts'
import type { UiFile, UiFiles } from './load-files.ts'

/** What all pages learn from the server before they sign in. Read by src/backend/ui/config.ts. */
export interface UiConfig {
  /** The prefix of all paths of the server: empty, or for example `/api`. */
  readonly base: string
  /** The URL of the OAuth2 endpoints. */
  readonly issuer: string
  /** The origin of the pages. Pages that were loaded from another one go there. */
  readonly origin: string
  readonly clientId: string
  readonly redirectPath: string
  readonly service: string
  readonly version: string
  /** Whether this is `dev`. */
  readonly isDevelopment: boolean
}

/** The configuration of one response, without what all pages have. */
export type PageConfig<Config extends UiConfig> = Omit<Config, 'base' | 'issuer' | 'version'>

export interface UiOptions {
  /** The path below which the pages are. */
  readonly path: string
  /** The name of their HTML file. */
  readonly file: string
  readonly issuer: string
  config(): PageConfig<UiConfig>
  /** Whether the page is also at the path itself, which otherwise redirects below it. */
  readonly hasPageAtPath?: boolean
  /** The `Cross-Origin-Opener-Policy`; by default `same-origin`. */
  readonly openerPolicy?: string
  /** Called before the page is sent. */
  prepare?(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Whether the pages are served; by default always. */
  isOn?(): boolean
  /** Returns a path to which the page redirects instead, relative to the issuer. */
  redirect?(): Promise<string | undefined>
}

/**
 * Mounts pages of src/backend/ui. Their files are loaded with the first request, so that they take no memory on a
 * server where they are not used.
 */
export function mountUi(options: UiOptions): FastifyPluginAsync {
  const { path, isOn } = options
  const base = new URL(options.issuer).pathname.replace(/\/$/, '')
  const load = async () => (await import('./load-files.ts')).loadFiles()
  return async (app) => {
    if (isOn !== undefined) {
      app.addHook('onRequest', async (_request, reply) => {
        if (!isOn()) return reply.callNotFound()
      })
    }
    const [other, page] = options.hasPageAtPath === true ? [`${path}/`, path] : [path, `${path}/`]
    app.get(other, (request, reply) => reply.redirect(base + page + queryOf(request), 302))
    mountAssets(app, path, load)
    mountPage(app, { ...options, base, load })
  }
}

/** Mounts the files with a hash in their name, which never change. */
function mountAssets(app: FastifyInstance, path: string, load: () => Promise<UiFiles>): void {
  app.get<{ Params: { name: string } }>(`${path}/assets/:name`, async (request, reply) => {
    const file = (await load()).assets.get(request.params.name)
    if (file === undefined) throw errors.WP_RUNTIME_UI_FILE({ name: request.params.name })
    reply.header('cache-control', 'public, max-age=31536000, immutable')
    return sendFile(request, reply, file)
  })
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: UiFile): FastifyReply {
  const accepted = request.headers['accept-encoding'] ?? ''
  reply.type(file.type).header('vary', 'Accept-Encoding')
  if (/\bbr\b(?!;\s*q=0(\.0*)?\s*(,|$))/.test(accepted)) return reply.header('content-encoding', 'br').send(file.brotli)
  if (/\bgzip\b(?!;\s*q=0(\.0*)?\s*(,|$))/.test(accepted)) {
    return reply.header('content-encoding', 'gzip').send(file.gzip)
  }
  return reply.send(file.plain())
}

interface PageOptions extends UiOptions {
  readonly base: string
  load(): Promise<UiFiles>
}

/** Mounts the page, which is the same for all paths, so that links to any of them survive a reload. */
function mountPage(app: FastifyInstance, options: PageOptions): void {
  const { base, issuer, path, openerPolicy } = options
  const headers = { ...pageHeaders, ...(openerPolicy && { 'cross-origin-opener-policy': openerPolicy }) }
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    await options.prepare?.(request, reply)
    reply.headers(headers).header('cache-control', 'no-store')
    const page = (await options.load()).pages.get(options.file)
    if (page === undefined) throw errors.WP_RUNTIME_UI_MISSING()
    const elsewhere = await options.redirect?.()
    if (elsewhere !== undefined) return reply.redirect(issuer + elsewhere, 302)
    const nonce = randomBytes(16).toString('base64')
    reply.header('content-security-policy', makePolicy(nonce, new URL(issuer).origin))
    const config: UiConfig = { ...options.config(), base, issuer, version }
    const json = JSON.stringify(config).replaceAll('<', String.raw`\u003c`)
    return reply.type('text/html; charset=utf-8').send(page({ base: `${base}${path}/`, nonce, config: json }))
  }
  app.get(`${path}/*`, send)
  if (options.hasPageAtPath === true) app.get(path, send)
}

/**
 * Pages of user routes have the same origin. Only pages with both of these headers can keep a reference to a window of
 * these pages, and actions cannot set both, see send-result.ts.
 */
const pageHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'x-frame-options': 'DENY',
}

/** Only scripts with the nonce, and those that they load, may run: scripts of user routes must not. */
function makePolicy(nonce: string, issuer: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    `connect-src 'self' ${issuer}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
