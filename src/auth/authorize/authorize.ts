import type { FastifyReply, FastifyRequest } from 'fastify'
import { verifyAttempt } from '../access/login.ts'
import { errors, OAuthError, PageError } from '../errors.ts'
import type { CheckedRequest } from './check-request.ts'
import { storeConsent } from './consent.ts'
import { decideStep } from './decide.ts'
import { hasShown } from './cookies.ts'
import { issueCode } from './issue-code.ts'
import { refuseForm, takeNotice } from './notice.ts'
import { registerUser } from '../self-service/own-account.ts'
import { canRegisterFor, sendConsent, sendLogin, sendRegister, shownOnConsent, sendPage } from './send-pages.ts'
import { readQuery } from './query-parameters.ts'
import { renderError } from './pages/error-page.ts'
import { isOwnPages } from '../account/clients.ts'
import { maxTypedLength } from '../account/passwords.ts'
import { findSession, type Session } from './session.ts'
import {
  respondToRequest,
  restartRequest,
  redirectToClient,
  readPageForm,
  signIn,
  signOut,
  withoutLogin,
  type Visit,
} from './visit.ts'

/** Handles `GET /authorization/authorize`: shows a page or redirects to the client. */
export async function authorize(visit: Visit): Promise<FastifyReply> {
  const { issuer, cookies, request } = visit
  return respondToRequest(visit, readQuery(request.raw.url ?? ''), async (checked) => {
    // The backend and the portal ask for another account when the user signs out, after they have revoked their tokens.
    const notice = takeNotice(visit, { page: 'authorize', query: checked.query })
    if (notice === undefined && isOwnPages(checked.client.id) && checked.prompts.has('select_account'))
      await signOut(visit, { keepTokens: isFromOtherSite(request) })
    const session = await findSession(issuer, cookies.session(request))
    const step = await decideStep(issuer, checked, session)
    // After a wrong password, a sign-in of another tab does not count.
    if (step.next === 'login' || notice !== undefined) {
      const reason = step.next === 'login' ? step.reason : undefined
      return sendLogin(visit, checked, { reason, user: session?.userName, notice })
    }
    if (step.next === 'consent') return sendConsent(visit, checked, step)
    return sendCode(visit, checked, step)
  })
}

/** Whether a page of another origin sent the browser here. A link there must not end the work in every tab. */
function isFromOtherSite({ headers }: FastifyRequest): boolean {
  return !['same-origin', 'none', undefined].includes(headers['sec-fetch-site'])
}

/** Handles `POST /authorization/login`: starts a session and restarts the request. */
export async function handleLogin(visit: Visit): Promise<FastifyReply> {
  const { issuer, request } = visit
  const { fields, query } = readPageForm(visit)
  return respondToRequest(visit, query, async (checked) => {
    const { username: user = '', password = '' } = fields
    try {
      if (user === '' || password === '') throw errors.WP_AUTH_FORM_EMPTY()
      // No valid one is longer.
      if (user.length > 64 || password.length > 2 * maxTypedLength) throw errors.WP_AUTH_LOGIN()
      await signIn(visit, await verifyAttempt(issuer, { name: user, password, address: request.ip }))
    } catch (error) {
      return refuseForm(visit, { page: 'authorize', query: checked.query }, error, { user })
    }
    return restartRequest(visit, withoutLogin(checked.query))
  })
}

/** Handles `GET /authorization/register`: shows the registration page. */
export async function showRegistration(visit: Visit): Promise<FastifyReply> {
  assertRegistration(visit)
  return respondToRequest(visit, readQuery(visit.request.raw.url ?? ''), async (checked) => {
    assertRegistration(visit, checked)
    return sendRegister(visit, checked, takeNotice(visit, { page: 'register', query: checked.query }))
  })
}

/** Handles `POST /authorization/register`: creates a user, starts a session and restarts the request. */
export async function handleRegistration(visit: Visit): Promise<FastifyReply> {
  const { issuer, request } = visit
  assertRegistration(visit)
  const { fields, query } = readPageForm(visit)
  return respondToRequest(visit, query, async (checked) => {
    assertRegistration(visit, checked)
    const { username: name = '', password = '' } = fields
    const address = request.ip
    try {
      if (name === '' || password === '') throw errors.WP_AUTH_FORM_EMPTY()
      await registerUser(issuer, { name, password, address })
      await signIn(visit, await verifyAttempt(issuer, { name, password, address }))
    } catch (error) {
      return refuseForm(visit, { page: 'register', query: checked.query }, error, { user: name })
    }
    return restartRequest(visit, withoutLogin(checked.query))
  })
}

/** @throws PageError 404 unless people can register themselves, for the client of a request if it is known */
function assertRegistration(visit: Visit, checked?: CheckedRequest): void {
  const { registration } = visit.issuer.settings()
  if (checked === undefined ? registration : canRegisterFor(visit, checked.client)) return
  throw new PageError('Registration is closed', 'Accounts on this server are created by its administrators.', {
    status: 404,
  })
}

/** Used instead of a session cookie, so that the token of a login form is never valid for a session. */
const noSession = 'none'

/** Handles `POST /authorization/consent`: redirects to the client with a code or an error. */
export async function handleConsent(visit: Visit): Promise<FastifyReply> {
  const { issuer, cookies, request } = visit
  const cookie = cookies.session(request)
  const { fields, query } = readPageForm(visit, cookie ?? noSession)
  return respondToRequest(visit, query, async (checked) => {
    if (fields['decision'] === 'deny') throw new OAuthError('access_denied', 'The user denied access')
    if (fields['decision'] !== 'allow') throw new PageError('This form is not valid', 'It contains no decision.')
    const step = await decideStep(issuer, checked, await findSession(issuer, cookie))
    // The user allowed what the page showed. Scopes may have been added to the client or the user since.
    const isShown = (shown: string) => hasShown(fields['csrf'] ?? '', shown)
    if (step.next === 'login' || !isShown(shownOnConsent(checked, step.scopes))) return restartRequest(visit, query)
    await storeConsent(issuer.system, checked, { userId: step.session.userId, scopes: step.scopes })
    return sendCode(visit, checked, step)
  })
}

/** Handles `POST /authorization/logout`: ends the session and restarts the request, so that another user can log in. */
export async function handleLogout(visit: Visit): Promise<FastifyReply> {
  const { cookies, request, reply } = visit
  const { query } = readPageForm(visit, cookies.session(request) ?? noSession)
  await signOut(visit)
  if (query !== '') return restartRequest(visit, query)
  return sendPage(reply, renderError({ title: 'You are signed out', detail: 'You can close this page.' }))
}

async function sendCode(
  visit: Visit,
  request: CheckedRequest,
  granted: { session: Session; scopes: readonly string[] },
): Promise<FastifyReply> {
  assertWindow(visit, request)
  const code = await issueCode(visit.issuer, request, granted)
  return code === undefined ? restartRequest(visit, request.query) : redirectToClient(visit, request, { code })
}

/**
 * Rejects a request for a code of the backend or the portal that was not sent by a window: their pages are not shown in
 * frames, which a user route on this origin could read.
 * @throws PageError
 */
function assertWindow({ request: { headers } }: Visit, { client }: CheckedRequest): void {
  if (!isOwnPages(client.id) || headers['sec-fetch-site'] === undefined || headers['sec-fetch-dest'] === 'document')
    return
  throw new PageError('This request was not sent by a window', 'Codes are only sent to windows of a browser.', {
    status: 403,
    hint: 'Open the address in a window or tab.',
  })
}
