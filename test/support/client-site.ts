import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The web site of an OAuth2 client: a separate local origin to which users return with a code. */
export interface ClientSite extends AsyncDisposable {
  readonly origin: string
  readonly redirectUri: string
  /** URLs to which users returned, oldest first. */
  readonly answers: readonly URL[]
  /** Serves this at `/page`, for example a frame with a page of another origin. */
  show(html: string): void
}

export async function openClientSite(): Promise<ClientSite> {
  const answers: URL[] = []
  let page = ''
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    if (url.pathname === '/cb') answers.push(url)
    const text = url.pathname === '/page' ? page : '<!doctype html><title>Back</title><h1>Back at the client</h1>'
    response.setHeader('content-type', 'text/html; charset=utf-8').end(text)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    redirectUri: `${origin}/cb`,
    answers,
    show(html) {
      page = html
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A verifier and its challenge (RFC 7636 §4.2). */
export function makePkce(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}
