import type { FastifyReply, FastifyRequest } from 'fastify'
import { readForm, type Form } from '../endpoint/client-authentication.ts'
import type { SignInLinks } from '../access/sign-in-links.ts'
import { OAuthError, PageError } from '../errors.ts'
import type { VerifiedUser } from '../account/users.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { isOwnPages } from '../account/clients.ts'
import { resolveRedirect, type RedirectableRequest } from './resolve-redirect.ts'
import { makeResponseUri } from './response-uri.ts'
import { checkRequest, type CheckedRequest } from './check-request.ts'
import { type Cookies, isFormToken } from './cookies.ts'
import { beginSession, endSession, findSession } from './session.ts'
import { normalizeQuery, parseQuery, rewriteQuery } from './query-parameters.ts'

/** What the pages need from their server. */
export interface PageOptions {
  readonly issuer: TokenIssuer
  /** Whether `dev` created this System. */
  readonly isDevelopment: boolean
  /** The URL below which the backend is; undefined if it is off. */
  readonly backendUrl: string | undefined
  /** Links that sign a user in once; only in `dev`. */
  readonly signInLinks?: SignInLinks | undefined
  /** Returns the name of the service that users sign in to. */
  service(): string
  /** Returns the scopes of the active release with their descriptions. */
  scopes(): Readonly<Record<string, { readonly description?: string }>>
}

/** One request of a browser to the pages. */
export interface Visit extends PageOptions {
  /** The path of the issuer without a trailing slash, the prefix of form and redirect paths. */
  readonly base: string
  readonly cookies: Cookies
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * The policies of the pages of the backend and the portal. With them, a window in which the user signs in again stays
 * connected to the page that opened it, and to no page of a user route, which cannot set both.
 */
const isolation = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' }

/**
 * Checks an authorization request, then calls `respond`. Errors go to the client if it is known and the browser may be
 * redirected.
 * @throws PageError
 */
export async function respondToRequest(
  visit: Visit,
  query: string,
  respond: (request: CheckedRequest) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { issuer, isDevelopment, backendUrl, request } = visit
  const { portal: hasPortal } = issuer.settings()
  const place = { issuer: issuer.issuer, isDevelopment, backendUrl, hasPortal, host: request.host }
  const addressed = await resolveRedirect({ system: issuer.system, ...place }, query)
  if (isOwnPages(addressed.client.id)) visit.reply.headers(isolation)
  try {
    return await respond(checkRequest(addressed, issuer.issuer))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    visit.request.reason = `${error.error}: ${error.message}`
    if (!(await canRedirectError(visit, addressed, error))) throw toPage(error)
    return redirectToClient(visit, addressed, { error: error.error, error_description: error.message })
  }
}

/**
 * Anyone can register a client and distribute a link with an invalid request, so such a link must not redirect users
 * before they have signed in (RFC 9700 §4.11.2). A client that sends `prompt=none` gets the error, because no page is
 * shown. A user who denied access has seen a page.
 */
async function canRedirectError(
  { issuer, cookies, request }: Visit,
  { parameters }: RedirectableRequest,
  { error }: OAuthError,
) {
  if (error === 'access_denied' || parameters.text('prompt') === 'none') return true
  return (await findSession(issuer, cookies.session(request))) !== undefined
}

function toPage({ error, message }: OAuthError): PageError {
  return new PageError('The request of this app is not valid', `${message} (${error}).`, {
    hint: 'Go back to the app and start again. The app receives error details at its redirect URI only after you sign in.',
  })
}

/** Signs the browser in. Tokens of another user who was signed in there end. */
export async function signIn({ issuer, cookies, request, reply }: Visit, user: VerifiedUser): Promise<void> {
  cookies.setSession(reply, await beginSession(issuer, user, cookies.session(request)))
  await issuer.applyChanges()
}

/** Signs the browser out, by default in every tab. */
export async function signOut(
  { issuer, cookies, request, reply }: Visit,
  options?: Parameters<typeof endSession>[2],
): Promise<void> {
  const cookie = cookies.session(request)
  if (cookie === undefined) return
  await endSession(issuer, cookie, options)
  cookies.clearSession(reply)
  await issuer.applyChanges()
}

/** Redirects the browser to the client. */
export function redirectToClient(
  { reply, issuer }: Visit,
  request: RedirectableRequest,
  response: Readonly<Record<string, string>>,
): FastifyReply {
  // never 307, which would forward the form with the password to the client (RFC 9700 §4.12)
  return reply.redirect(makeResponseUri(request, issuer.issuer, response), 303)
}

/** Redirects the browser to the start of the same request. */
export function restartRequest({ reply, base }: Visit, query: string): FastifyReply {
  return reply.redirect(`${base}/authorization/authorize?${query}`, 303)
}

/** Removes the parts of a request that a login has just satisfied, to prevent a loop. */
export function withoutLogin(query: string): string {
  return rewriteQuery(query, (name, pair) => {
    if (name === 'max_age') return undefined
    if (name !== 'prompt') return pair
    const prompts = parseQuery(pair).text('prompt')?.split(' ') ?? []
    return `prompt=${prompts.filter((prompt) => prompt !== 'login' && prompt !== 'select_account').join('+')}`
  })
}

/** A submitted form of one of the pages. */
export interface PageForm {
  readonly fields: Form
  /** The authorization request that the form belongs to. */
  readonly query: string
}

/** Reads a form that this browser received from one of the pages. @throws PageError 403 */
export function readPageForm({ request, cookies }: Visit, session?: string): PageForm {
  const fields = readForm(request.body)
  const cookie = cookies.form(request)
  if (cookie === undefined || !isFormToken({ cookie, session }, fields['csrf'] ?? '')) {
    throw new PageError('This form has expired', 'It was not sent from the most recent page.', {
      status: 403,
      hint: 'Go back to the app and start again. Your browser must allow cookies for this site.',
    })
  }
  const { username } = fields
  // Keyboards of phones add a blank to suggested names.
  const named = username === undefined ? fields : { ...fields, username: username.trim() }
  return { fields: named, query: normalizeQuery(fields['request'] ?? '') }
}
