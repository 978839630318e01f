import type { FastifyReply, FastifyInstance, FastifyRequest } from 'fastify'
import type { System } from '../../store/index.ts'
import {
  backendClientId,
  type ClientRecord,
  docsClientId,
  docsRedirectPath,
  portalClientId,
} from '../account/clients.ts'
import { formSourceOf, redirectHostOf } from './response-uri.ts'
import type { CheckedRequest } from './check-request.ts'
import { describeScope } from './consent.ts'
import { makeFormToken } from './cookies.ts'
import type { Notice } from './notice.ts'
import { renderConsent } from './pages/consent-page.ts'
import { renderLogin, renderRegister } from './pages/login-page.ts'
import type { Session } from './session.ts'
import type { Visit } from './visit.ts'
import { isWaypostError } from '../../kit/index.ts'
import { OAuthError, PageError } from '../errors.ts'
import { renderError } from './pages/error-page.ts'
import { styleSourceOf } from './pages/page.ts'

/** Describes what a consent page shows: client, scopes and redirect URI. Signed into its form. */
export function shownOnConsent(
  { client, redirectUri }: Pick<CheckedRequest, 'client' | 'redirectUri'>,
  scopes: readonly string[],
): string {
  return [client.id, redirectUri, ...scopes].join(' ')
}

export interface LoginPageOptions {
  /** The name of the user who must enter the password again. */
  readonly user: string | undefined
  readonly reason: string | undefined
  readonly notice: Notice | undefined
}

export function sendLogin(
  visit: Visit,
  { client, query, redirectUri }: CheckedRequest,
  { reason, notice, ...session }: LoginPageOptions,
): FastifyReply {
  const { base, cookies, request, reply, issuer } = visit
  const csrf = makeFormToken({ cookie: cookies.ensureForm(request, reply) })
  const { description, accent } = issuer.settings()
  const look = { service: visit.service(), description, accent }
  const canRegister = canRegisterFor(visit, client)
  const words = { reason, problem: notice?.problem, user: notice?.user || session.user }
  const page = renderLogin({ ...look, ...words, base, clientName: nameOf(client), csrf, request: query, canRegister })
  return sendPage(reply, page, { formSources: [formSourceOf(redirectUri)], accent })
}

/** Whether people can register themselves: not for the backend, to which new users have no access. */
export function canRegisterFor({ issuer }: Visit, client: Pick<ClientRecord, 'id'>): boolean {
  return issuer.settings().registration && client.id !== backendClientId
}

export function sendRegister(
  visit: Visit,
  { client, query, redirectUri }: CheckedRequest,
  notice: Notice | undefined,
): FastifyReply {
  const { base, cookies, request, reply, issuer } = visit
  const csrf = makeFormToken({ cookie: cookies.ensureForm(request, reply) })
  const { description, accent } = issuer.settings()
  const look = { service: visit.service(), description, accent }
  const words = { problem: notice?.problem, user: notice?.user }
  const page = renderRegister({ ...look, ...words, base, clientName: nameOf(client), csrf, request: query })
  return sendPage(reply, page, { formSources: [formSourceOf(redirectUri)], accent })
}

/** The name of a client on the login pages; undefined for the portal, which is the service itself. */
function nameOf({ id, name }: ClientRecord): string | undefined {
  return id === portalClientId ? undefined : name
}

export async function sendConsent(
  { base, cookies, request, reply, ...visit }: Visit,
  { client, query, redirectUri }: CheckedRequest,
  { session, scopes }: { session: Session; scopes: readonly string[] },
): Promise<FastifyReply> {
  const purpose = { cookie: cookies.ensureForm(request, reply), session: cookies.session(request) }
  const { accent } = visit.issuer.settings()
  const page = renderConsent({
    base,
    accent,
    service: visit.service(),
    clientName: client.name,
    userName: session.userName,
    scopes: scopes.map((name) => ({ name, description: describeScope(visit.scopes(), name) })),
    redirectHost: redirectHostOf(redirectUri),
    isPublic: client.secretHash === null,
    isReference: isReference(visit, request, { client, redirectUri }),
    registered: await findRegistration(visit.issuer.system, client),
    csrf: makeFormToken(purpose, shownOnConsent({ client, redirectUri }, scopes)),
    request: query,
  })
  return sendPage(reply, page, { formSources: [formSourceOf(redirectUri)], accent })
}

/**
 * Whether the client is this server's own API reference. In development, other programs on this machine could claim the
 * same redirect URI.
 */
function isReference(
  { issuer, isDevelopment }: Pick<Visit, 'issuer' | 'isDevelopment'>,
  request: FastifyRequest,
  { client, redirectUri }: Pick<CheckedRequest, 'client' | 'redirectUri'>,
): boolean {
  if (client.id !== docsClientId) return false
  const here = isDevelopment ? `http://${request.host}` : issuer.issuer
  return [issuer.issuer, here].some((base) => redirectUri === `${base}${docsRedirectPath}`)
}

async function findRegistration({ db }: System, { userId, createdAt }: ClientRecord) {
  if (userId === null) return undefined
  const owner = await db.selectFrom('waypost_user').select('name').where('id', '=', userId).executeTakeFirst()
  return owner && { by: owner.name, at: createdAt }
}

/**
 * Responses of the pages are never cached or framed and send no referrer; their errors are pages. Windows stay
 * connected to the pages of other origins that opened them, because clients wait for the window to close.
 */
export function configurePageResponses(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'content-security-policy': makePolicy({}),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    reply.removeHeader('cross-origin-opener-policy')
  })
  app.setErrorHandler((error: unknown, request, reply) => {
    const pageError = toPageError(error)
    if (pageError.status >= 500)
      request.log[pageError.status === 503 ? 'warn' : 'error']({ err: error }, 'login page failed')
    const hint = pageError.status < 500 ? pageError.hint : `It is logged as request ${request.id}.`
    if (pageError.status === 503) reply.header('retry-after', String(retryAfterOf(error)))
    const { title, message: detail, status } = pageError
    request.reason ??= detail
    return sendPage(reply.code(status), renderError({ title, detail, hint }))
  })
}

export interface PagePolicy {
  /** Where forms of the page may redirect to, besides this server; without it, the page has no forms. */
  readonly formSources?: readonly string[]
  /** The setting `accent`, if the page has its colours. */
  readonly accent?: string
}

export function sendPage(reply: FastifyReply, page: string, policy: PagePolicy = {}): FastifyReply {
  reply.header('content-security-policy', makePolicy(policy))
  return reply.type('text/html; charset=utf-8').send(page)
}

function makePolicy({ formSources, accent = '' }: PagePolicy): string {
  const forms = formSources === undefined ? "'none'" : ["'self'", ...formSources].join(' ')
  return `default-src 'none'; style-src ${styleSourceOf(accent)}; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`
}

/** Converts any error to one that can be shown. */
function toPageError(error: unknown): PageError {
  if (error instanceof PageError) return error
  const status = statusOf(error)
  if (status === 503)
    return new PageError('Try again in a moment', 'The server cannot respond at the moment.', { status })
  if (status >= 500)
    return new PageError('Internal server error', 'The server could not handle the request.', { status: 500 })
  const hint = 'Go back to the app and start again.'
  return new PageError('This form is not valid', `${(error as Error).message}.`, { status, hint })
}

/** Returns the status of errors of Waypost, OAuth2 and Fastify; 500 for all others. */
function statusOf(error: unknown): number {
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
  const known = isWaypostError(error) || error instanceof OAuthError ? status : statusCode
  return typeof known === 'number' && known >= 400 ? known : 500
}

function retryAfterOf(error: unknown): number {
  return (isWaypostError(error) ? error.retryAfterSeconds : undefined) ?? 1
}
