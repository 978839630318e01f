import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy that has a server at a path of a host where other things are, and takes the path away. */
export interface PathProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/PATH` */
  readonly url: string
  leadTo(port: number): void
}

/** Opens the proxy before there is a server behind it, which has to know its address first. */
export async function openPathProxy(prefix: string): Promise<PathProxy> {
  let target = 0
  const proxy = createServer((request, response) => {
    const path = insidePath(request.url ?? '/', prefix)
    if (path === undefined) response.writeHead(418).end('something else')
    else pass(request, response, { path, port: target })
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`,
    leadTo(port) {
      target = port
    },
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

/** What is below the path, and what RFC 8414 §3 has before it. */
function insidePath(url: string, prefix: string): string | undefined {
  if (url.startsWith(`${prefix}/`)) return url.slice(prefix.length)
  return url.startsWith('/.well-known/') && url.endsWith(prefix) ? url : undefined
}

function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { path, port }: { path: string; port: number },
): void {
  const { method, headers } = request
  const onward = send(
    { host: '127.0.0.1', port, path, headers, ...(method === undefined ? {} : { method }) },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    },
  )
  onward.on('error', () => response.destroy())
  request.pipe(onward)
}
