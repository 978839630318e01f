import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { backendClientId, backendRedirectPath } from '../../auth/index.ts'
import type { BackendSettings } from '../../host/index.ts'
import { version } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { UiFile, UiFiles } from './load-files.ts'

export interface UiSources {
  readonly settings: BackendSettings
  readonly issuer: string
  /** Whether this is `dev`. */
  readonly isDevelopment: boolean
  /** Returns the name of the service. */
  service(): string
  /** Whether an active user may administer this server. Otherwise the first administrator must be created. */
  hasAdministrator(): Promise<boolean>
}

/** What the pages learn from the server before they sign in. Read by plugins/backend/src/config.ts. */
export interface UiConfig {
  /** The prefix of all paths of the server: empty, or for example `/api`. */
  readonly base: string
  /** The URL of the OAuth2 endpoints. */
  readonly issuer: string
  /** The origin of the backend. Pages that were loaded from another one go there. */
  readonly origin: string
  readonly clientId: string
  readonly redirectPath: string
  readonly service: string
  readonly version: string
  /** Whether drafts and publishing are disabled. */
  readonly isReadOnly: boolean
  readonly isDevelopment: boolean
}

/**
 * Mounts the pages of the backend at `/backend/ui`. Their files are loaded with the first request, so that they
 * take no memory on a server whose backend is not used.
 */
export function mountUi(sources: UiSources): FastifyPluginAsync {
  let loading: Promise<UiFiles> | undefined
  const load = () => {
    loading ??= import('./load-files.ts').then(({ loadFiles }) => loadFiles())
    return loading
  }
  const base = new URL(sources.issuer).pathname.replace(/\/$/, '')
  return async (app) => {
    app.get('/backend', (_request, reply) => reply.redirect(`${base}/backend/ui/`, 302))
    app.get('/backend/ui', (_request, reply) => reply.redirect(`${base}/backend/ui/`, 302))
    mountAssets(app, load)
    mountPage(app, { ...sources, base, load })
  }
}

/** Mounts the files with a hash in their name, which never change. */
function mountAssets(app: FastifyInstance, load: () => Promise<UiFiles>): void {
  app.get<{ Params: { name: string } }>('/backend/ui/assets/:name', async (request, reply) => {
    const file = (await load()).assets.get(request.params.name)
    if (file === undefined) throw errors.WP_BACKEND_UI_FILE({ name: request.params.name })
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

interface PageSources extends UiSources {
  readonly base: string
  load(): Promise<UiFiles>
}

/** Mounts the page, which is the same for all paths, so that links to any of them survive a reload. */
function mountPage(app: FastifyInstance, sources: PageSources): void {
  const { base, issuer, isDevelopment, settings } = sources
  const makeConfig = (): UiConfig => ({
    base,
    issuer,
    origin: settings.url ?? new URL(issuer).origin,
    clientId: backendClientId,
    redirectPath: backendRedirectPath,
    service: sources.service(),
    version,
    isReadOnly: settings.mode === 'read',
    isDevelopment,
  })
  app.get('/backend/ui/*', async (request, reply) => {
    reply.headers(pageHeaders).header('cache-control', 'no-store')
    const { page } = await sources.load()
    if (page === undefined) throw errors.WP_BACKEND_UI_MISSING()
    if (!(await sources.hasAdministrator())) return reply.redirect(`${issuer}/authorization/first-run`, 302)
    const nonce = randomBytes(16).toString('base64')
    reply.header('content-security-policy', makePolicy(nonce, new URL(issuer).origin))
    const config = JSON.stringify(makeConfig()).replaceAll('<', String.raw`\u003c`)
    return reply.type('text/html; charset=utf-8').send(page({ base: `${base}/backend/ui/`, nonce, config }))
  })
}

/**
 * Pages of user routes have the same origin. Only pages with both of these headers can keep a reference to a window of
 * the backend, and actions cannot set both, see send-result.ts.
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
