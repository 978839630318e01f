// A process of `bench/routes.ts`: one of the two servers.
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { openProjectServer } from '../test/support/project-server.ts'
import { reportServer } from './turns.ts'

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

const roles: Readonly<Record<string, () => Promise<void>>> = {
  waypost: serveWaypost,
  fastify: () => serveFastify({}),
  'same headers': () => serveFastify(securityHeaders),
}

/** What Waypost adds to each response. */
const securityHeaders = { 'cross-origin-resource-policy': 'same-origin', 'x-content-type-options': 'nosniff' }

const role = process.argv[2]
if (import.meta.main) await roles[role ?? '']?.()

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
  reportServer({ port: server.port })
}

function action(result: string): string {
  return `export default class Sample {\n  async handle({ query, body }: any) {\n    return ${result}\n  }\n}\n`
}

async function serveFastify(headers: Readonly<Record<string, string>>): Promise<void> {
  const app = Fastify()
  if (Object.keys(headers).length > 0)
    app.addHook('onRequest', (_request, reply, done) => {
      reply.headers(headers)
      done()
    })
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
  reportServer({ port: (app.server.address() as AddressInfo).port })
}
