import { PageError } from '../errors.ts'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import {
  handleConsent,
  handleLogin,
  handleLogout,
  handleRegistration,
  authorize,
  showRegistration,
} from './authorize.ts'
import { handleFirstRun, handleLink, showFirstRun } from './first-run.ts'
import { configurePageResponses } from './send-pages.ts'
import { makeCookies } from './cookies.ts'
import type { PageOptions, Visit } from './visit.ts'

const bodyLimit = 16 * 1024

/** Mounts the authorization endpoint (RFC 6749 §3.1) and the forms of its pages. */
export function mountPages(options: PageOptions): FastifyPluginAsync {
  const { issuer } = options.issuer
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const cookies = makeCookies(issuer.startsWith('https:'), base)
  const visit = (request: FastifyRequest, reply: FastifyReply): Visit => ({ ...options, base, cookies, request, reply })
  return async (app) => {
    app.removeAllContentTypeParsers()
    await app.register(formbody, { bodyLimit })
    await app.register(cookie)
    configurePageResponses(app)
    app.addHook('onRequest', async (request) => {
      assertNavigation(request)
      if (request.method === 'POST') assertOwnForm(request, issuer)
    })
    // Clients get their state back byte for byte, whatever its encoding.
    app.get('/authorization/authorize', { exposeHeadRoute: false, config: { readsRawQuery: true } }, (request, reply) =>
      authorize(visit(request, reply)),
    )
    app.get('/authorization/register', { exposeHeadRoute: false }, (request, reply) =>
      showRegistration(visit(request, reply)),
    )
    app.get('/authorization/first-run', { exposeHeadRoute: false }, (request, reply) =>
      showFirstRun(visit(request, reply)),
    )
    if (options.signInLinks !== undefined) {
      app.get('/authorization/link', { exposeHeadRoute: false }, (request, reply) => handleLink(visit(request, reply)))
    }
    for (const [name, respond] of forms) {
      app.post(`/authorization/${name}`, (request, reply) => respond(visit(request, reply)))
      rejectOtherMethods(app, `/authorization/${name}`, pages.has(name) ? ['GET', 'POST'] : ['POST'])
    }
  }
}

const forms = [
  ['login', handleLogin],
  ['consent', handleConsent],
  ['logout', handleLogout],
  ['register', handleRegistration],
  ['first-run', handleFirstRun],
] as const
/** Forms whose pages have the same path. */
const pages: ReadonlySet<string> = new Set(['register', 'first-run'])

/**
 * Rejects a request of a script: one of a user route on this origin could read the form token, give consent, or log in.
 * Only browsers send these headers.
 * @throws PageError
 */
function assertNavigation({ headers }: FastifyRequest): void {
  if (headers['sec-fetch-site'] === undefined || headers['sec-fetch-mode'] === 'navigate') return
  throw new PageError('This request was not sent by a window', 'These pages only work in windows of a browser.', {
    status: 403,
    hint: 'Open the address in a window or tab.',
  })
}

/**
 * Rejects a form that a page of another origin sent, also if it knows the form token. A page without a referrer sends
 * `Origin: null`, which says nothing.
 * @throws PageError
 */
function assertOwnForm({ headers, host }: FastifyRequest, issuer: string): void {
  const { origin = 'null', 'sec-fetch-site': site = 'same-origin' } = headers
  // A proxy may have replaced the host; `dev` has several.
  const isOwn = origin === 'null' || [host, new URL(issuer).host].includes(URL.parse(origin)?.host ?? '')
  if (isOwn && (site === 'same-origin' || site === 'none')) return
  throw new PageError('This form was sent by another site', 'Forms are only accepted from the pages of this server.', {
    status: 403,
    hint: 'Go back to the app and start again.',
  })
}

/** Handles a GET to the URL of a form, for example after a reload. The page with the form no longer exists. */
function rejectOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'].filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    config: { rejectsMethod: true },
    onRequest: async (_request, reply) => {
      reply.header('allow', allowed.join(', '))
      throw new PageError(
        'Go back to the app and start again',
        'This address only accepts forms from the login pages.',
        { status: 405 },
      )
    },
    handler: async () => undefined,
  })
}
