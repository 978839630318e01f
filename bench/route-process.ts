// A process of `bench/routes.ts`: one of the two servers, or the load.
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { Client } from 'undici'
import { openProjectServer } from '../test/support/project-server.ts'

const message = {
  type: 'object',
  required: ['success', 'message', 'id'],
  properties: { success: { type: 'boolean' }, message: { type: 'string' }, id: { type: 'integer' } },
}
const input = {
  type: 'object',
  required: ['title', 'content'],
  additionalProperties: false,
  properties: { title: { type: 'string', minLength: 1, maxLength: 64 }, content: { type: 'string' } },
}
const query = { type: 'object', properties: { startIndex: { type: 'integer', minimum: 0, default: 0 } } }

export const routeRequests = {
  'public GET': { method: 'GET', path: '/hello' },
  'GET with a query': { method: 'GET', path: '/list?startIndex=16' },
  'POST with a body': {
    method: 'POST',
    path: '/todo',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Buy milk', content: 'Two bottles' }),
  },
} as const
export type RouteName = keyof typeof routeRequests

/** What the load is asked for. */
export interface LoadOrder {
  readonly port: number
  readonly name: RouteName
  readonly ms: number
}

/** A message of a child: the port of a server, its processor's time so far, or how many requests were answered. */
export type Report = { readonly port: number } | { readonly cpuMicros: number } | { readonly answered: number }

export const roles: Readonly<Record<string, () => Promise<void>>> = {
  waypost: serveWaypost,
  fastify: serveFastify,
  load: async () => void process.on('message', (order: LoadOrder) => void sendLoad(order).then(report)),
}

const role = process.argv[2]
if (import.meta.main) await roles[role ?? '']?.()

function report(news: Report): void {
  process.send!(news)
}

function reportServer(port: number): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    report({ cpuMicros: user + system })
  })
  report({ port })
}

async function serveWaypost(): Promise<void> {
  const schemas = JSON.stringify({ Message: message, Input: input })
  const files = {
    'waypost.yml': `
routes:
  /hello: { methods: { GET: { public: true, response: Message, action: src/hello.ts } } }
  /list:
    methods:
      GET: { public: true, parameters: { startIndex: { type: integer, minimum: 0, default: 0 } }, response: Message, action: src/list.ts }
  /todo: { methods: { POST: { public: true, request: Input, responses: { 201: Message }, action: src/todo.ts } } }
schema: ${schemas}
`,
    'src/hello.ts': action(`{ success: true, message: 'Hello', id: 1 }`),
    'src/list.ts': action(`{ success: true, message: 'Hello', id: query.startIndex }`),
    'src/todo.ts': action(`{ success: true, message: body.title, id: 1 }`),
  }
  const server = await openProjectServer({ files, variables: { LOG_LEVEL: 'silent' } })
  reportServer(server.port)
}

function action(result: string): string {
  return `export default class Sample {\n  async handle({ query, body }: any) {\n    return ${result}\n  }\n}\n`
}

async function serveFastify(): Promise<void> {
  const app = Fastify()
  app.get('/hello', { schema: { response: { 200: message } } }, async () => ({
    success: true,
    message: 'Hello',
    id: 1,
  }))
  app.get<{ Querystring: { startIndex: number } }>(
    '/list',
    { schema: { querystring: query, response: { 200: message } } },
    async (request) => ({ success: true, message: 'Hello', id: request.query.startIndex }),
  )
  app.post<{ Body: { title: string } }>(
    '/todo',
    { schema: { body: input, response: { 201: message } } },
    async (request, reply) => {
      reply.code(201)
      return { success: true, message: request.body.title, id: 1 }
    },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  reportServer((app.server.address() as AddressInfo).port)
}

/** As many requests as are answered in the time, over a few connections that always have some in flight. */
async function sendLoad({ port, name, ms }: LoadOrder): Promise<{ answered: number }> {
  const end = performance.now() + ms
  let answered = 0
  const clients = Array.from({ length: 10 }, () => new Client(`http://127.0.0.1:${port}`, { pipelining: 5 }))
  const caller = async (client: Client) => {
    while (performance.now() < end) {
      const { statusCode, body } = await client.request(routeRequests[name])
      await body.dump()
      if (statusCode >= 300) throw new Error(`${name} answered ${statusCode}`)
      answered += 1
    }
  }
  await Promise.all(clients.flatMap((client) => Array.from({ length: 5 }, () => caller(client))))
  await Promise.all(clients.map((client) => client.close()))
  return { answered }
}
