import type { FastifyReply } from 'fastify'
import { isWaypostError } from '../../kit/index.ts'
import { verifyAttempt } from '../access/login.ts'
import { OAuthError, PageError } from '../errors.ts'
import type { CheckedRequest } from './check-request.ts'
import { rememberConsent } from './consent.ts'
import { decide } from './decide.ts'
import { hasShown } from './cookies.ts'
import { issueCode } from './issue-code.ts'
import { registerUser } from '../self-service/own-account.ts'
import { sendConsent, sendLogin, sendRegister, shownOnConsent, sendPage } from './send-pages.ts'
import { readQuery } from './query-parameters.ts'
import { renderError } from './pages/error-page.ts'
import { beginSession, endSession, findSession, type Session } from './session.ts'
import { answerRequest, askAgain, goBack, readPageForm, withoutLogin, type Visit } from './visit.ts'

/** `GET /authorization/authorize`: a page, or the client's answer at once. */
export async function authorize(visit: Visit): Promise<FastifyReply> {
  const { issuer, cookies, request } = visit
  return answerRequest(visit, readQuery(request.raw.url ?? ''), async (checked) => {
    const session = await findSession(issuer, cookies.session(request))
    const step = await decide(issuer, checked, session)
    if (step.next === 'login') return sendLogin(visit, checked, { reason: step.reason, user: session?.userName })
    if (step.next === 'consent') return sendConsent(visit, checked, step)
    return sendCode(visit, checked, step)
  })
}

/** `POST /authorization/login`: a session, and the request from its beginning. */
export async function answerLogin(visit: Visit): Promise<FastifyReply> {
  const { issuer, cookies, request, reply } = visit
  const { fields, query } = readPageForm(visit)
  return answerRequest(visit, query, async (checked) => {
    const { username: user = '', password = '' } = fields
    const refuse = (status: number, problem: string) => sendLogin(visit, checked, { user, problem, status })
    // What is longer is nobody's, and would be cut off where it is hashed.
    if (user === '' || password === '') return refuse(400, 'Enter your username and password.')
    if (user.length > 64 || password.length > 1024) return refuse(401, wrong)
    try {
      const found = await verifyAttempt(issuer, { name: user, password, address: request.ip })
      cookies.keepSession(reply, await beginSession(issuer, found, cookies.session(request)))
    } catch (error) {
      if (!isWaypostError(error) || error.status >= 500) throw error
      if (error.status !== 429) return refuse(error.status, wrong)
      reply.header('retry-after', String(error.retryAfterSeconds ?? 1))
      return refuse(429, `${error.message}. ${error.hint}`)
    }
    return askAgain(visit, withoutLogin(checked.query))
  })
}

/** `GET /authorization/register`: the page on which people create an account. */
export async function showRegistration(visit: Visit): Promise<FastifyReply> {
  assertRegistration(visit)
  return answerRequest(visit, readQuery(visit.request.raw.url ?? ''), async (checked) =>
    sendRegister(visit, checked, {}),
  )
}

/** `POST /authorization/register`: a user and a session, and the request from its beginning. */
export async function answerRegistration(visit: Visit): Promise<FastifyReply> {
  const { issuer, cookies, request, reply } = visit
  assertRegistration(visit)
  const { fields, query } = readPageForm(visit)
  return answerRequest(visit, query, async (checked) => {
    const { username: name = '', password = '' } = fields
    const address = request.ip
    const refuse = (status: number, problem: string) => sendRegister(visit, checked, { user: name, problem, status })
    if (name === '' || password === '') return refuse(400, 'Enter a username and a password.')
    try {
      await registerUser(issuer, { name, password, address })
      const user = await verifyAttempt(issuer, { name, password, address })
      cookies.keepSession(reply, await beginSession(issuer, user, cookies.session(request)))
    } catch (error) {
      if (!isWaypostError(error) || error.status >= 500) throw error
      if (error.status === 429) reply.header('retry-after', String(error.retryAfterSeconds ?? 1))
      const sentences = [error.message, error.hint].filter((text) => text !== undefined)
      return refuse(error.status, sentences.map((text) => text.replace(/\.?$/, '.')).join(' '))
    }
    return askAgain(visit, withoutLogin(checked.query))
  })
}

/** @throws PageError 404 while the setting `registration` is off */
function assertRegistration({ issuer }: Visit): void {
  if (issuer.settings().registration) return
  throw new PageError('Registration is closed', 'Accounts on this server are created by its administrators.', {
    status: 404,
  })
}

/** Stands in so that the token of a login page, which everybody is given, never passes for that of a session. */
const noSession = 'none'

const wrong = 'Wrong username or password.'

/** `POST /authorization/consent`: the client's answer. */
export async function answerConsent(visit: Visit): Promise<FastifyReply> {
  const { issuer, cookies, request } = visit
  const cookie = cookies.session(request)
  const { fields, query } = readPageForm(visit, cookie ?? noSession)
  return answerRequest(visit, query, async (checked) => {
    if (fields['decision'] === 'deny') throw new OAuthError('access_denied', 'The user denied access')
    if (fields['decision'] !== 'allow') throw new PageError('This form is not valid', 'It contains no decision.')
    const step = await decide(issuer, checked, await findSession(issuer, cookie))
    // What was allowed is what the page showed: scopes may have been given to the client or the user since.
    const isShown = (shown: string) => hasShown(fields['csrf'] ?? '', shown)
    if (step.next === 'login' || !isShown(shownOnConsent(checked, step.scopes))) return askAgain(visit, query)
    await rememberConsent(issuer.system, checked, { userId: step.session.userId, scopes: step.scopes })
    return sendCode(visit, checked, step)
  })
}

/** `POST /authorization/logout`: ends the session; the request goes on with another user. */
export async function answerLogout(visit: Visit): Promise<FastifyReply> {
  const { issuer, cookies, request, reply } = visit
  const cookie = cookies.session(request)
  const { query } = readPageForm(visit, cookie ?? noSession)
  if (cookie !== undefined) await endSession(issuer, cookie)
  cookies.dropSession(reply)
  if (query !== '') return askAgain(visit, query)
  return sendPage(reply, renderError({ title: 'You are signed out', detail: 'You can close this page.' }))
}

async function sendCode(
  visit: Visit,
  request: CheckedRequest,
  granted: { session: Session; scopes: readonly string[] },
): Promise<FastifyReply> {
  const code = await issueCode(visit.issuer, request, granted)
  return code === undefined ? askAgain(visit, request.query) : goBack(visit, request, { code })
}
