import type { FastifyReply } from 'fastify'
import type { System } from '../../store/index.ts'
import type { ClientRecord } from '../account/clients.ts'
import { formSourceOf, redirectHostOf } from './answer-uri.ts'
import type { CheckedRequest } from './check-request.ts'
import { describeScope } from './describe-scope.ts'
import { makeFormToken } from './form-token.ts'
import { renderConsent } from './pages/consent-page.ts'
import { renderLogin } from './pages/login-page.ts'
import type { Session } from './session.ts'
import { sendPage } from './speak-pages.ts'
import type { Visit } from './visit.ts'

/** What a user allows by the form of a consent page: this client, these scopes, to go on to there. */
export function shownOnConsent(
  { client, redirectUri }: Pick<CheckedRequest, 'client' | 'redirectUri'>,
  scopes: readonly string[],
): string {
  return [client.id, redirectUri, ...scopes].join(' ')
}

export interface LoginWords {
  /** Who typed a name before, or has to enter his password again. */
  readonly user?: string | undefined
  readonly problem?: string
  readonly reason?: string | undefined
  readonly status?: number
}

export function sendLogin(
  { base, cookies, request, reply }: Visit,
  { client, query, redirectUri }: CheckedRequest,
  { status = 200, ...words }: LoginWords,
): FastifyReply {
  const csrf = makeFormToken({ cookie: cookies.keepForm(request, reply) })
  const page = renderLogin({ base, clientName: client.name, csrf, request: query, ...words })
  return sendPage(reply.code(status), page, [formSourceOf(redirectUri)])
}

export async function sendConsent(
  { base, cookies, request, reply, ...visit }: Visit,
  { client, query, redirectUri }: CheckedRequest,
  { session, scopes }: { session: Session; scopes: readonly string[] },
): Promise<FastifyReply> {
  const purpose = { cookie: cookies.keepForm(request, reply), session: cookies.session(request) }
  const page = renderConsent({
    base,
    clientName: client.name,
    userName: session.userName,
    scopes: scopes.map((name) => ({ name, description: describeScope(visit.scopes(), name) })),
    redirectHost: redirectHostOf(redirectUri),
    isPublic: client.secretHash === null,
    registered: await findRegistration(visit.issuer.system, client),
    csrf: makeFormToken(purpose, shownOnConsent({ client, redirectUri }, scopes)),
    request: query,
  })
  return sendPage(reply, page, [formSourceOf(redirectUri)])
}

async function findRegistration({ db }: System, { userId, createdAt }: ClientRecord) {
  if (userId === null) return undefined
  const owner = await db.selectFrom('waypost_user').select('name').where('id', '=', userId).executeTakeFirst()
  return owner && { by: owner.name, at: createdAt }
}
