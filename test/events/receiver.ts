import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One POST as it arrived. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** `performance.now()` */
  readonly at: number
}

/** What a receiver answers: a status, or whatever it does with the response. */
export type Answer = number | ((response: ServerResponse, received: Received) => void)

/** A subscriber's server, with a ledger of what came in. */
export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** How many requests are open now, and the most that were at once. */
  readonly open: { now: number; most: number }
  readonly connections: () => number
  /** What it answers to the request of this number, from 1. */
  choose: (count: number) => Answer
  /** Breaks every connection. */
  hangUp(): void
  close(): Promise<void>
}

export async function openReceiver(first: Answer = 204): Promise<Receiver> {
  const received: Received[] = []
  const open = { now: 0, most: 0 }
  let sockets = 0
  const server = createServer((request, response) => {
    open.most = Math.max(open.most, ++open.now)
    response.on('close', () => open.now--)
    void read(request).then((body) => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body, at: performance.now() }
      received.push(one)
      const answer = receiver.choose(received.length)
      if (typeof answer === 'number') response.writeHead(answer).end()
      else answer(response, one)
    })
  })
  server.on('connection', () => sockets++)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    open,
    connections: () => sockets,
    choose: () => first,
    hangUp: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
  return receiver
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
