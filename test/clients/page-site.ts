import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The web site of a client that is nothing but a page: what it does runs in its user's browser. */
export interface PageSite extends AsyncDisposable {
  readonly origin: string
}

const library = readFileSync(new URL(import.meta.resolve('oauth4webapi')), 'utf8')

/** Serves the page at `/` and at `/callback`; its script is written each time, when its origin is known. */
export async function openPageSite(writeScript: (origin: string) => string): Promise<PageSite> {
  const server = createServer((request, response) => {
    const isLibrary = request.url === '/oauth4webapi.js'
    response.setHeader('content-type', isLibrary ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(
      isLibrary ? library : `<!doctype html><title>App</title><script type="module">${writeScript(origin)}</script>`,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
