// A process of `bench/media.ts`: one of the two servers.
import { mkdtemp, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify from 'fastify'
import { openProjectServer } from '../test/support/project-server.ts'
import { loadPeer } from './peers.ts'

const order = {
  type: 'object',
  required: ['id', 'title', 'total'],
  properties: { id: { type: 'integer' }, title: { type: 'string' }, total: { type: 'number' } },
}
const fileBytes = 1024 * 1024

const roles: Readonly<Record<string, () => Promise<number>>> = { waypost: serveWaypost, fastify: serveFastify }

/** What the parent asks for. */
export interface Usage {
  readonly cpuMicros: number
  /** After a garbage collection. */
  readonly rssBytes: number
  readonly heapBytes: number
}

const role = process.argv[2]
if (import.meta.main) {
  const port = await roles[role ?? '']!()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('message', (order) => {
    const { user, system } = process.cpuUsage()
    if (order === 'memory') for (let time = 0; time < 3; time += 1) collect()
    const { rss, heapUsed, external } = process.memoryUsage()
    process.send!({ cpuMicros: user + system, rssBytes: rss, heapBytes: heapUsed + external } satisfies Usage)
  })
  process.send!({ port })
}

async function makeFile(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-bench-'))
  await writeFile(path.join(folder, 'a.bin'), Buffer.alloc(fileBytes, 'x'))
  return folder
}

async function serveWaypost(): Promise<number> {
  const root = JSON.stringify(await makeFile())
  const method = (more: string, file: string) =>
    `{ methods: { GET: { public: true, ${more}, action: src/${file}.ts } } }`
  const files = {
    'waypost.yml': `
config: { streams_per_principal: 100000 }
schema: ${JSON.stringify({ Order: order })}
routes:
  /events: ${method('response: { content: { text/event-stream: Order } }', 'events')}
  /a.bin: ${method('response: { content: [application/octet-stream] }', 'file')}
  /order: ${method('response: Order, cache: { max_age: 60s, public: true }', 'order')}
`,
    'src/events.ts': action(`const { signal } = context
    return (async function* () {
      for (let id = 1; ; id += 1) {
        yield { id, title: 'An order', total: 12.5 }
        await pause(1000, undefined, { signal })
      }
    })()`),
    'src/file.ts': action(`return context.file('a.bin', { root: ${root} })`),
    'src/order.ts': action(`return { id: 1, title: 'An order', total: 12.5 }`),
  }
  const server = await openProjectServer({ files, variables: { LOG_LEVEL: 'silent' } })
  return server.port
}

function action(body: string): string {
  return `import { setTimeout as pause } from 'node:timers/promises'
export default class Sample {
  async handle(_: any, context: any) {
    ${body}
  }
}
void pause
`
}

async function serveFastify(): Promise<number> {
  const { sse } = await loadPeer('@fastify/sse')
  const { files } = await loadPeer('@fastify/static')
  const { etag } = await loadPeer('@fastify/etag')
  const app = Fastify()
  await app.register(sse)
  await app.register(files, { root: await makeFile() })
  await app.register(async (tagged) => {
    await tagged.register(etag)
    tagged.get('/order', { schema: { response: { 200: order } } }, async (_, reply) => {
      reply.header('cache-control', 'public, max-age=60')
      return { id: 1, title: 'An order', total: 12.5 }
    })
  })
  app.get('/events', { sse: { kind: 'only' } } as never, async (_, reply) => {
    const leave = new AbortController()
    reply.raw.once('close', () => leave.abort())
    await (reply as unknown as { sse: { send(source: unknown): Promise<void> } }).sse.send(sendOrders(leave.signal))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

async function* sendOrders(signal: AbortSignal) {
  const { setTimeout: pause } = await import('node:timers/promises')
  try {
    for (let id = 1; ; id += 1) {
      yield { data: { id, title: 'An order', total: 12.5 } }
      await pause(1000, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
