import { PageError } from '../errors.ts'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import {
  answerConsent,
  answerLogin,
  answerLogout,
  answerRegistration,
  authorize,
  showRegistration,
} from './authorize.ts'
import { answerAsPages } from './send-pages.ts'
import { makeCookies } from './cookies.ts'
import type { PageOptions, Visit } from './visit.ts'

const bodyLimit = 16 * 1024

/** The authorization endpoint (RFC 6749 §3.1) and the forms of its pages: what a user's browser shows. */
export function mountPages(options: PageOptions): FastifyPluginAsync {
  const { issuer } = options.issuer
  const cookies = makeCookies(issuer.startsWith('https:'))
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const visit = (request: FastifyRequest, reply: FastifyReply): Visit => ({ ...options, base, cookies, request, reply })
  return async (app) => {
    app.removeAllContentTypeParsers()
    await app.register(formbody, { bodyLimit })
    await app.register(cookie)
    answerAsPages(app)
    app.get('/authorization/authorize', { exposeHeadRoute: false }, (request, reply) =>
      authorize(visit(request, reply)),
    )
    app.get('/authorization/register', { exposeHeadRoute: false }, (request, reply) =>
      showRegistration(visit(request, reply)),
    )
    for (const [name, answer] of forms) {
      app.post(`/authorization/${name}`, (request, reply) => answer(visit(request, reply)))
      refuseOtherMethods(app, `/authorization/${name}`, name === 'register' ? ['GET', 'POST'] : ['POST'])
    }
  }
}

const forms = [
  ['login', answerLogin],
  ['consent', answerConsent],
  ['logout', answerLogout],
  ['register', answerRegistration],
] as const

/** Somebody asks for the address of a form that he sees: the page that it was on is not there any more. */
function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
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
