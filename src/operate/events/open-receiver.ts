import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeId, messageOf } from '../../kit/index.ts'
import { errors } from '../errors.ts'

/** A delivery as received. */
export interface ReceivedPost {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** A subscriber's server on this machine. */
export interface EventReceiver {
  /** The unguessable URL to subscribe. */
  readonly endpoint: string
  close(): Promise<void>
}

interface ReceiverResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

const pathStart = '/event-listen/'
const aliveHeader = 'waypost-event-listen'
const maxBytes = 16 * 1024 * 1024
const probeTimeoutMs = 1000

/**
 * Opens a receiver on the loopback address.
 * @param onPost returns the status of the response
 * @throws WP_SERVER_LISTEN_PORT
 */
export async function openReceiver(port: number, onPost: (post: ReceivedPost) => number): Promise<EventReceiver> {
  const path = pathStart + makeId('lsn_')
  const server = createServer((request, response) => {
    void respond(request).then(({ status, headers = {} }) => response.writeHead(status, headers).end())
  })
  const respond = async (request: IncomingMessage): Promise<ReceiverResponse> => {
    if (request.url !== path) return { status: 404 }
    if (request.method !== 'POST') return { status: 204, headers: { [aliveHeader]: path } }
    const body = await readBody(request).catch(() => undefined)
    if (body === undefined) return { status: 413, headers: { connection: 'close' } }
    return { status: onPost({ headers: singleHeaders(request), body }) }
  }
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (cause) {
    throw errors.WP_SERVER_LISTEN_PORT({ port, reason: messageOf(cause) }, { cause })
  }
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), probeTimeoutMs).unref()
      await closed
    },
  }
}

/** Whether an endpoint belongs to such a receiver, running or not. */
export function isReceiverEndpoint(endpoint: string): boolean {
  const url = URL.parse(endpoint)
  return url !== null && url.hostname === '127.0.0.1' && url.pathname.startsWith(pathStart)
}

/** Whether the receiver of an endpoint is running. */
export async function isReceiverRunning(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(probeTimeoutMs), redirect: 'error' })
    await response.body?.cancel()
    return response.headers.get(aliveHeader) === new URL(endpoint).pathname
  } catch {
    return false
  }
}

/** @returns undefined if the body is too long */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += (part as Buffer).length
    if (size > maxBytes) return undefined
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts).toString('utf8')
}

function singleHeaders({ headers }: IncomingMessage): ReceivedPost['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]))
}
