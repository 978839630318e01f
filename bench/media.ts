import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { atMost, beside, type Figure } from './goal.ts'
import type { LoadRequest } from './load-process.ts'
import type { Usage } from './media-process.ts'
import { scaled } from './scale.ts'
import { ask, compareCosts, compareRates, openLoad, openServer, takeTurns, type BenchServer } from './turns.ts'

const streams = scaled(1000, 5)
const settleMs = scaled(3000, 200)
const measureMs = scaled(15_000, 1200)
/** The required shares of Fastify's rate and processor time. */
const goals = { rate: 0.9, cost: 0.85 }

/**
 * Measures files, 304 and event streams beside hand-written Fastify with @fastify/static, @fastify/etag and @fastify/sse. Each
 * server runs in its own process.
 */
export async function measureMedia(): Promise<Figure[]> {
  return [...(await compareRequests()), ...(await compareStreams())]
}

async function compareRequests(): Promise<Figure[]> {
  const servers = [await openServer('media-process.ts', 'waypost'), await openServer('media-process.ts', 'fastify')]
  const load = openLoad()
  const figures: Figure[] = []
  const whole = { range: 'bytes=65536-131071' }
  const etags = await Promise.all(servers.map(({ port }) => loadEtag(port)))
  const kinds: Readonly<Record<string, (index: number) => LoadRequest>> = {
    'a Range of 64 KB of a file': () => ({ method: 'GET', path: '/a.bin', headers: whole }),
    'a Range of 100 bytes of a file': () => ({ method: 'GET', path: '/a.bin', headers: { range: 'bytes=0-99' } }),
    'If-None-Match → 304': (index) => ({ method: 'GET', path: '/order', headers: { 'if-none-match': etags[index]! } }),
  }
  for (const [name, requestOf] of Object.entries(kinds)) {
    const asked = servers.map((server, index): BenchServer => ({ ...server, request: requestOf(index) }))
    const rounds = await takeTurns({ servers: asked, load })
    const of = { indexes: [0, 1], names: ['Waypost', 'Fastify'] } as const
    figures.push(
      ...compareRates(`${name} as a part of Fastify's`, rounds, { ...of, goal: goals.rate }),
      ...compareCosts('the same by processor time', rounds, { ...of, goal: goals.cost }),
    )
  }
  for (const child of [...servers.map((server) => server.child), load]) child.kill()
  return figures
}

async function loadEtag(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/order`)
  await response.text()
  return response.headers.get('etag')!
}

/** What one open stream takes beyond the server without streams. */
interface StreamCost {
  readonly kb: number
  readonly heapKb: number
  /** Microseconds of processor time for each event. */
  readonly micros: number
}

async function compareStreams(): Promise<Figure[]> {
  const costs: StreamCost[] = []
  for (const role of ['waypost', 'fastify']) {
    const server = await openServer('media-process.ts', role)
    try {
      costs.push(await measureStreams(server))
    } finally {
      server.child.kill()
    }
  }
  const [own, other] = costs as [StreamCost, StreamCost]
  const what = `${streams} event streams, 1 event a second`
  return [
    atMost(`${what}: memory of each as a part of @fastify/sse's`, { value: own.kb / other.kb, unit: '' }, 1),
    beside('  Waypost and Fastify', `${own.kb.toFixed(1)} and ${other.kb.toFixed(1)} KB`),
    beside('  of it in the heap', `${own.heapKb.toFixed(1)} and ${other.heapKb.toFixed(1)} KB`),
    atMost('  processor time of each event', { value: own.micros / other.micros, unit: '' }, 1),
    beside('  Waypost and Fastify', `${own.micros.toFixed(1)} and ${other.micros.toFixed(1)} µs`),
  ]
}

async function measureStreams({ child, port }: BenchServer): Promise<StreamCost> {
  const counter = { events: 0 }
  const warm = await openStreams(port, scaled(100, 2), counter)
  await pause(settleMs)
  for (const socket of warm) socket.destroy()
  await pause(500)
  const idle = (await ask(child, 'memory')) as Usage
  const idleMicros = await measureCpu(child) // Waypost also reads its change feed
  const sockets = await openStreams(port, streams, counter)
  await pause(settleMs)
  counter.events = 0
  const micros = await measureCpu(child)
  const { events } = counter
  const open = (await ask(child, 'memory')) as Usage
  for (const socket of sockets) socket.destroy()
  return {
    kb: Math.max(0.1, open.rssBytes - idle.rssBytes) / streams / 1024,
    heapKb: (open.heapBytes - idle.heapBytes) / streams / 1024,
    micros: Math.max(0.1, micros - idleMicros) / events,
  }
}

/** Returns the processor time that a server takes while this process waits. */
async function measureCpu(child: BenchServer['child']): Promise<number> {
  const before = (await ask(child, 'cpu')) as Usage
  await pause(measureMs)
  const after = (await ask(child, 'cpu')) as Usage
  return after.cpuMicros - before.cpuMicros
}

/** Opens streams and waits for the first event of each. */
async function openStreams(port: number, count: number, counter: { events: number }): Promise<readonly Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.setEncoding('latin1')
      socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n')
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.on('data', (text: string) => {
          const events = text.split('data: ').length - 1
          counter.events += events
          if (events > 0) resolve()
        })
      })
      return socket
    }),
  )
}
