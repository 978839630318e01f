import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import type OAuth2Strategy from 'passport-oauth2'

/** A web application that signs people in by passport: `/login` sends them away, `/callback` has them back. */
export interface PassportSite extends AsyncDisposable {
  readonly origin: string
  /** Puts the strategy in place, made with the site's own `callbackURL`. */
  use(strategy: OAuth2Strategy): void
}

/** Opens the site: what passport and a session middleware do for a strategy, and no more. */
export async function openPassportSite(): Promise<PassportSite> {
  const sessions = new Map<string, object>()
  let strategy: OAuth2Strategy | undefined
  const server = createServer((request, response) => {
    const id = /sid=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? randomUUID()
    if (!sessions.has(id)) sessions.set(id, {})
    response.setHeader('set-cookie', `sid=${id}; HttpOnly`)
    const { searchParams } = new URL(request.url ?? '/', 'http://site')
    Object.assign(request, { session: sessions.get(id), query: Object.fromEntries(searchParams) })
    authenticate(strategy!, request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use(one) {
      strategy = one
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Passport gives each request a strategy of its own with these five ways out. */
function authenticate(strategy: OAuth2Strategy, request: IncomingMessage, response: ServerResponse): void {
  const answer = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body))
  const one: OAuth2Strategy = Object.assign(Object.create(strategy) as OAuth2Strategy, {
    redirect: (url: string) => response.writeHead(302, { location: url }).end(),
    success: (user: unknown) => answer(200, { user }),
    fail: (challenge: unknown, status: unknown) => answer(Number(status) || 401, { failed: challenge }),
    error: ({ name, message, ...error }: Error & { code?: unknown }) =>
      answer(500, { name, message, code: error.code }),
    pass: () => answer(404, {}),
  })
  one.authenticate(request as never)
}
