import type { FastifyReply } from 'fastify'
import { sha256 } from '../../kit/index.ts'
import { createFirstAdministrator, hasAdministrator } from '../access/first-run.ts'
import { verifyAttempt } from '../access/login.ts'
import { PageError } from '../errors.ts'
import { makeFormToken } from './cookies.ts'
import { refuseForm, takeNotice } from './notice.ts'
import { renderFirstRun } from './pages/first-run-page.ts'
import { sendPage } from './send-pages.ts'
import { readPageForm, signIn, type Visit } from './visit.ts'

/** Handles `GET /authorization/first-run`: asks for the code that the server printed, and for the first administrator. */
export async function showFirstRun(visit: Visit): Promise<FastifyReply> {
  const { base, cookies, request, reply, issuer } = visit
  const backend = backendOf(visit)
  const notice = takeNotice(visit, place)
  if (notice === undefined && (await hasAdministrator(issuer.system))) return reply.redirect(backend, 303)
  const csrf = makeFormToken({ cookie: cookies.ensureForm(request, reply) })
  const page = renderFirstRun({ base, service: visit.service(), csrf, ...notice })
  return sendPage(reply, page, { formSources: [new URL(backend).origin] })
}

const place = { page: 'first-run', query: '' } as const

/** Handles `POST /authorization/first-run`: creates the first administrator, starts a session and opens the backend. */
export async function handleFirstRun(visit: Visit): Promise<FastifyReply> {
  const { issuer, request, reply } = visit
  const backend = backendOf(visit)
  const { code = '', username: name = '', password = '' } = readPageForm(visit).fields
  try {
    await createFirstAdministrator(issuer, { code, name, password, address: request.ip })
    await signIn(visit, await verifyAttempt(issuer, { name, password, address: request.ip }))
  } catch (error) {
    return refuseForm(visit, place, error, { user: name, code })
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

/** @throws PageError 404 if the backend is off */
function backendOf({ backendUrl }: Visit): string {
  if (backendUrl !== undefined) return `${backendUrl}/backend/ui/`
  throw new PageError(
    'The backend is disabled',
    'This server has no pages for administration. Use its commands instead.',
    { status: 404 },
  )
}
