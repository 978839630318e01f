import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** When it came, by the monotonic clock. */
  readonly at: number
}

/** A subscriber on this machine. */
export interface Receiver {
  readonly url: string
  /** What came so far, oldest first. */
  readonly received: readonly Received[]
  /** Answers with this status from now on; 204 at the beginning. */
  answer(status: number): void
  /** Answers so much later what comes from now on. */
  delay(ms: number): void
  close(): Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let status = 204
  let delayMs = 0
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    received.push({
      method: request.method ?? '',
      headers: request.headers,
      body: Buffer.concat(parts).toString('utf8'),
      at: performance.now(),
    })
    const chosen = status
    setTimeout(() => response.writeHead(chosen).end(), delayMs)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (next) => {
      status = next
    },
    delay: (ms) => {
      delayMs = ms
    },
    close: async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
