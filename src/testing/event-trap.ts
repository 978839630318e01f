import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deliverTestEvents, ensureTestUser, subscribeTestUser, type WaypostServer } from '../server/index.ts'

/** A subscriber of all events at a real URL. What it received is what was delivered. */
export interface EventTrap {
  delivered(event: string): unknown[]
  /** Delivers all due events. */
  deliver(): Promise<void>
  ensureUser(name: string, scopes: readonly string[]): Promise<void>
  close(): Promise<void>
}

const trapUser = 'waypost-test-subscriber'

/** @param onDelivered called with the name of each delivered event */
export async function openEventTrap(
  server: WaypostServer,
  events: readonly string[],
  onDelivered: (event: string) => void,
): Promise<EventTrap> {
  const received = new Map<string, unknown[]>()
  const receiver = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const event = String(request.headers['waypost-event'])
      onDelivered(event)
      const list = received.get(event) ?? []
      received.set(event, [...list, JSON.parse(Buffer.concat(parts).toString('utf8'))])
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const id = await subscribeTestUser(server, { user: trapUser, events, endpoint })
  return {
    delivered: (event) => received.get(event) ?? [],
    deliver: () => deliverTestEvents(server, id),
    ensureUser: (name, scopes) => ensureTestUser(server, name, scopes),
    async close() {
      receiver.closeAllConnections()
      await new Promise((resolve) => receiver.close(resolve))
    },
  }
}
