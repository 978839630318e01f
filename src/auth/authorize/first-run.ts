import type { FastifyReply } from 'fastify'
import { isWaypostError, sha256 } from '../../kit/index.ts'
import { createFirstAdministrator, hasAdministrator } from '../access/first-run.ts'
import { verifyAttempt } from '../access/login.ts'
import { PageError } from '../errors.ts'
import { makeFormToken } from './cookies.ts'
import { renderFirstRun } from './pages/first-run-page.ts'
import { sendPage } from './send-pages.ts'
import { readPageForm, signIn, type Visit } from './visit.ts'

/** Handles `GET /authorization/first-run`: asks for the code that the server printed, and for the first administrator. */
export async function showFirstRun(visit: Visit): Promise<FastifyReply> {
  const backend = backendOf(visit)
  if (await hasAdministrator(visit.issuer.system)) return visit.reply.redirect(backend, 303)
  return sendFirstRun(visit, {})
}

/** Handles `POST /authorization/first-run`: creates the first administrator, starts a session and opens the backend. */
export async function handleFirstRun(visit: Visit): Promise<FastifyReply> {
  const { issuer, request, reply } = visit
  const backend = backendOf(visit)
  const { code = '', username: name = '', password = '' } = readPageForm(visit).fields
  try {
    await createFirstAdministrator(issuer, { code, name, password, address: request.ip })
    await signIn(visit, await verifyAttempt(issuer, { name, password, address: request.ip }))
  } catch (error) {
    if (!isWaypostError(error) || error.status >= 500) throw error
    if (error.status === 429) reply.header('retry-after', String(error.retryAfterSeconds ?? 1))
    const problem = [error.message, error.hint].filter((text) => text !== undefined).join('. ')
    return sendFirstRun(visit, { code, user: name, problem: problem.replace(/\.?$/, '.'), status: error.status })
  }
  return reply.redirect(backend, 303)
}

/** Handles `GET /authorization/link`: signs in by a link of `dev`. A link that was used only opens the backend. */
export async function handleLink(visit: Visit): Promise<FastifyReply> {
  const { issuer, request, reply, signInLinks } = visit
  const userId = signInLinks?.redeem((request.raw.url ?? '').split('?')[1] ?? '')
  if (userId !== undefined) {
    const row = await issuer.system.db
      .selectFrom('waypost_user')
      .select(['id', 'name', 'email', 'status', 'password_hash'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    await signIn(visit, { ...row, passwordCheck: sha256(row.password_hash ?? '') })
  }
  return reply.redirect(`${visit.base}/backend/ui/`, 303)
}

interface FirstRunOptions {
  readonly code?: string
  readonly user?: string
  readonly problem?: string
  readonly status?: number
}

function sendFirstRun(visit: Visit, { status = 200, ...words }: FirstRunOptions): FastifyReply {
  const { base, cookies, request, reply } = visit
  const csrf = makeFormToken({ cookie: cookies.ensureForm(request, reply) })
  const page = renderFirstRun({ base, service: visit.service(), csrf, ...words })
  return sendPage(reply.code(status), page, { formSources: [new URL(backendOf(visit)).origin] })
}

/** @throws PageError 404 if the backend is off */
function backendOf({ backendUrl }: Visit): string {
  if (backendUrl !== undefined) return `${backendUrl}/backend/ui/`
  throw new PageError(
    'The backend is disabled',
    'This server has no pages for administration. Use its commands instead.',
    { status: 404 },
  )
}
