import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Connections } from './connections.ts'
import type { CheckReadiness } from './health.ts'
import { LeanResponse } from './lean-messages.ts'
import { listen, type Address } from './listen.ts'

export interface OpsOptions extends Address {
  readonly checkReadiness: CheckReadiness
  /** Returns the text of `/metrics`. */
  readonly measure: () => Promise<string>
  onError(error: unknown): void
}

/** A port for operators: health and metrics without a token, and nothing else. */
export interface OpsServer {
  readonly port: number
  readonly host: string
  close(): Promise<void>
}

/**
 * Opens the ops port. It has its own server, so that it also responds while the main server is overloaded or stopping.
 */
export async function openOpsServer(options: OpsOptions): Promise<OpsServer> {
  const pages: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
    '/health/live': async (response) => sendJson(response, 200, { status: 'live' }),
    async '/health/ready'(response) {
      const reason = await options.checkReadiness()
      sendJson(response, reason === undefined ? 200 : 503, { status: reason ?? 'ready' })
    },
    '/metrics': async (response) => send(response, { type: metricsType, text: await options.measure() }),
  }
  // Operators need only a few connections; the other file descriptors are for requests.
  const connections = new Connections({ maxConnections: 100 }, (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (page === undefined) return sendJson(response, 404, { status: 'Only health and metrics are available here' })
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return sendJson(response, 405, { status: 'Use GET' })
    }
    page(response).catch((error: unknown) => {
      options.onError(error)
      sendJson(response, 503, { status: 'Metrics are not available at the moment' })
    })
  })
  const server = createServer(
    {
      ServerResponse: LeanResponse,
      keepAliveTimeout: 72_000,
      requestTimeout: 20_000,
      connectionsCheckingInterval: 1000,
    },
    connections.accept,
  )
  connections.watch(server)
  await listen(server, options)
  server.on('error', options.onError) // errors of accept
  return {
    port: (server.address() as AddressInfo).port,
    host: options.host,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** The Prometheus text format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

function sendJson(response: ServerResponse, status: number, body: object): void {
  send(response, { status, type: 'application/json; charset=utf-8', text: JSON.stringify(body) })
}

function send(
  response: ServerResponse,
  { status = 200, type, text }: { status?: number; type: string; text: string },
): void {
  if (status === 503) response.setHeader('retry-after', '1')
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  response.end(text) // Node sends no body in response to HEAD
}
