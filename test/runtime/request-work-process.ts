// A server that counts what it does for requests. In its own process, because it replaces methods of Node.
import { createHook } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { OutgoingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import Fastify from 'fastify'
import { openProjectServer } from '../support/project-server.ts'

/** How often each kind of work was done. */
export type Work = Record<string, number>

let work: Work = {}
const count = (what: string) => void (work[what] = (work[what] ?? 0) + 1)
createHook({ init: (_id, type) => count(type) }).enable()

function countCalls(holder: object, name: string, nameOf: (self: object, argument: unknown) => string): void {
  const original = holder[name as never] as (...given: unknown[]) => unknown
  Object.assign(holder, {
    [name](this: object, ...given: unknown[]) {
      count(nameOf(this, given[0]))
      return original.apply(this, given)
    },
  })
}
for (const name of ['on', 'once', 'addListener', 'prependListener'])
  countCalls(EventEmitter.prototype, name, (self, event) => `listener ${self.constructor.name} ${String(event)}`)
for (const name of ['setHeader', 'getHeader', 'hasHeader', 'removeHeader'])
  countCalls(OutgoingMessage.prototype, name, () => `header ${name}`)
countCalls(ServerResponse.prototype, 'writeHead', () => 'header writeHead')
const { get: getBytesRead } = Object.getOwnPropertyDescriptor(Socket.prototype, 'bytesRead')!
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket }
  const get = (): unknown => {
    count('bytesRead')
    return getBytesRead!.call(socket)
  }
  Object.defineProperty(socket, 'bytesRead', { get })
})
for (const name of ['_write', '_writev']) countCalls(Socket.prototype, name, () => 'system call that writes')

const answer = { type: 'object', properties: { title: { type: 'string' } } }
const todo = { ...answer, required: ['title'], additionalProperties: false }

async function serveWaypost(): Promise<{ port: number; authorization: string }> {
  const method = (line: string) => `{ ${line}, response: Answer, action: src/answer.ts }`
  const server = await openProjectServer({
    files: {
      'waypost.yml': `
scope: { read: { description: Reads } }
schema: ${JSON.stringify({ Answer: answer, Todo: todo })}
routes:
  /hello: { methods: { GET: ${method('public: true')} } }
  /query: { methods: { GET: ${method('public: true, parameters: { page: { type: integer } }')} } }
  /private: { scopes: [read], methods: { GET: ${method('description: Reads')} } }
  /todo: { methods: { POST: ${method('public: true, request: Todo')} } }
`,
      'src/answer.ts': `export default class Answer { async handle() { return { title: 'Milk' } } }`,
    },
    variables: { LOG_LEVEL: 'silent' },
  })
  return { port: server.port, ...(await server.authorize('ann', ['read'])) }
}

async function serveFastify(): Promise<{ port: number; authorization: string }> {
  const app = Fastify()
  const handle = async () => ({ title: 'Milk' })
  const response = { 200: answer }
  const querystring = { type: 'object', properties: { page: { type: 'integer' } } }
  app.get('/hello', { schema: { response } }, handle)
  app.get('/query', { schema: { response, querystring } }, handle)
  app.get('/private', { schema: { response } }, handle)
  app.post('/todo', { schema: { response, body: todo } }, handle)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { port: Number(new URL(url).port), authorization: '' }
}

const served = await (process.argv[2] === 'fastify' ? serveFastify() : serveWaypost())
process.on('message', () => {
  process.send!(work)
  work = {}
})
process.send!(served)
