import type { FastifyReply, FastifyRequest } from 'fastify'
import { readForm, type Form } from '../endpoint/client-authentication.ts'
import { OAuthError, PageError } from '../errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { addressRequest, type AddressedRequest } from './address-request.ts'
import { makeAnswerUri } from './answer-uri.ts'
import { checkRequest, type CheckedRequest } from './check-request.ts'
import { type Cookies, isFormToken } from './cookies.ts'
import { findSession } from './session.ts'
import { normalizeQuery, parseQuery, rewriteQuery } from './query-parameters.ts'

/** What the pages need of their server. */
export interface PageOptions {
  readonly issuer: TokenIssuer
  /** `dev` made this System. */
  readonly isDevelopment: boolean
  /** What people call the service that they sign in to. */
  service(): string
  /** What the active release says of its scopes. */
  scopes(): Readonly<Record<string, { readonly description?: string }>>
}

/** One request of a user's browser to the pages. */
export interface Visit extends PageOptions {
  /** The issuer's path, without a slash at its end: what comes before the paths of forms and redirects. */
  readonly base: string
  readonly cookies: Cookies
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * Answers a request that was checked. What is wrong with it goes to the client, if it is known where that is and the
 * browser may be sent there.
 * @throws PageError
 */
export async function answerRequest(
  visit: Visit,
  query: string,
  answer: (request: CheckedRequest) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { issuer, isDevelopment } = visit
  const addressed = await addressRequest({ system: issuer.system, issuer: issuer.issuer, isDevelopment }, query)
  try {
    return await answer(checkRequest(addressed, issuer.issuer))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    visit.request.reason = `${error.error}: ${error.message}`
    if (!(await mayGoBack(visit, addressed, error))) throw toPage(error)
    return goBack(visit, addressed, { error: error.error, error_description: error.message })
  }
}

/**
 * Anyone can register a client and send a link with a request that is not valid: until somebody has signed in, nobody
 * is redirected by it (RFC 9700 §4.11.2). A client that asks with `prompt=none` is answered: it shows no page at all. A
 * user who denies has seen ours.
 */
async function mayGoBack({ issuer, cookies, request }: Visit, { parameters }: AddressedRequest, { error }: OAuthError) {
  if (error === 'access_denied' || parameters.text('prompt') === 'none') return true
  return (await findSession(issuer, cookies.session(request))) !== undefined
}

function toPage({ error, message }: OAuthError): PageError {
  return new PageError('The request of this app is not valid', `${message} (${error}).`, {
    hint: 'Go back to the app and start again. The app receives error details at its redirect URI only after you sign in.',
  })
}

/** Sends the browser back to the client. */
export function goBack(
  { reply, issuer }: Visit,
  request: AddressedRequest,
  answer: Readonly<Record<string, string>>,
): FastifyReply {
  // never 307: it would send the form, and the password in it, on to the client (RFC 9700 §4.12)
  return reply.redirect(makeAnswerUri(request, issuer.issuer, answer), 303)
}

/** Sends the browser to the beginning, with the same request. */
export function askAgain({ reply, base }: Visit, query: string): FastifyReply {
  return reply.redirect(`${base}/authorization/authorize?${query}`, 303)
}

/** A request without what has been done when somebody has just logged in: else it would be asked for for ever. */
export function withoutLogin(query: string): string {
  return rewriteQuery(query, (name, pair) => {
    if (name === 'max_age') return undefined
    if (name !== 'prompt') return pair
    const prompts = parseQuery(pair).text('prompt')?.split(' ') ?? []
    return `prompt=${prompts.filter((prompt) => prompt !== 'login' && prompt !== 'select_account').join('+')}`
  })
}

/** A form of one of the pages. */
export interface PageForm {
  readonly fields: Form
  /** The authorization request that it goes on with. */
  readonly query: string
}

/** Reads a form that one of the pages showed to this very browser. @throws PageError 403 */
export function readPageForm({ request, cookies }: Visit, session?: string): PageForm {
  const fields = readForm(request.body)
  const cookie = cookies.form(request)
  if (cookie === undefined || !isFormToken({ cookie, session }, fields['csrf'] ?? '')) {
    throw new PageError('This form has expired', 'It was not sent from the most recent page.', {
      status: 403,
      hint: 'Go back to the app and start again. Your browser must allow cookies for this site.',
    })
  }
  return { fields, query: normalizeQuery(fields['request'] ?? '') }
}
