// What a route costs: the same routes served by a generation and written by hand in Fastify, with the same schemas.
//   node bench/routes.ts [rounds, 6 by default] [milliseconds of each, 350 by default]
// Both servers run all the time, each in a process of its own, and the load goes to one after the other by turns.
// Requests a second depend on what else the machine does; the time of the server's processor per request hardly does.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
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

const requests = {
  'public GET': { method: 'GET', path: '/hello' },
  'GET with a query': { method: 'GET', path: '/list?startIndex=16' },
  'POST with a body': {
    method: 'POST',
    path: '/todo',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Buy milk', content: 'Two bottles' }),
  },
} as const
type Name = keyof typeof requests

interface Load {
  readonly port: number
  readonly name: Name
  readonly ms: number
}

/** A message of a child: the port of a server, its processor's time so far, or how many requests were answered. */
type Report = { readonly port: number } | { readonly cpuMicros: number } | { readonly answered: number }

const roles: Readonly<Record<string, () => Promise<void>>> = {
  waypost: serveWaypost,
  fastify: serveFastify,
  load: async () => void process.on('message', (load: Load) => void sendLoad(load).then(report)),
}

const role = process.env['BENCH_ROLE']
await (role === undefined ? compare() : roles[role]!())

async function compare(): Promise<void> {
  const [rounds = 6, ms = 350] = process.argv.slice(2).map(Number)
  const children = Object.keys(roles).map(openChild)
  const [waypost, fastify, load] = children as [ChildProcess, ChildProcess, ChildProcess]
  const ports = [await nextReport<{ port: number }>(waypost), await nextReport<{ port: number }>(fastify)]
  for (const name of Object.keys(requests) as Name[]) {
    const measured: (readonly [Measured, Measured])[] = []
    for (let round = -1; round < rounds; round += 1) {
      const one = await measure(waypost, load, { ...ports[0]!, name, ms })
      const other = await measure(fastify, load, { ...ports[1]!, name, ms })
      if (round >= 0) measured.push([one, other]) // compiled code first
    }
    print(name, measured)
  }
  for (const child of children) child.kill()
}

interface Measured {
  /** Requests a second. */
  readonly rate: number
  /** Microseconds of the server's processor per request. */
  readonly cost: number
}

async function measure(server: ChildProcess, load: ChildProcess, order: Load): Promise<Measured> {
  const before = await ask<{ cpuMicros: number }>(server, 'cpu')
  const { answered } = await ask<{ answered: number }>(load, order)
  const after = await ask<{ cpuMicros: number }>(server, 'cpu')
  return { rate: (answered / order.ms) * 1000, cost: (after.cpuMicros - before.cpuMicros) / answered }
}

function print(name: Name, measured: readonly (readonly [Measured, Measured])[]): void {
  const [rates, costs] = (['rate', 'cost'] as const).map((key) =>
    [0, 1].map((index) => median(measured.map((pair) => pair[index]![key]))),
  )
  const byRate = median(measured.map(([one, other]) => one.rate / other.rate))
  const byCost = median(measured.map(([one, other]) => other.cost / one.cost))
  const show = (index: number) =>
    `${rates![index]!.toFixed(0).padStart(6)}/s ${costs![index]!.toFixed(1).padStart(5)} µs`
  console.log(
    `${name.padEnd(18)} waypost ${show(0)}   fastify ${show(1)}   ` +
      `ratio ${byRate.toFixed(2)} by requests, ${byCost.toFixed(2)} by processor`,
  )
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function openChild(name: string): ChildProcess {
  return fork(import.meta.filename, { env: { ...process.env, BENCH_ROLE: name } })
}

async function nextReport<Wanted extends Report>(child: ChildProcess): Promise<Wanted> {
  const [message] = (await once(child, 'message')) as [Wanted]
  return message
}

function ask<Wanted extends Report>(child: ChildProcess, order: string | Load): Promise<Wanted> {
  const answer = nextReport<Wanted>(child)
  child.send(order)
  return answer
}

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
async function sendLoad({ port, name, ms }: Load): Promise<{ answered: number }> {
  const end = performance.now() + ms
  let answered = 0
  const clients = Array.from({ length: 10 }, () => new Client(`http://127.0.0.1:${port}`, { pipelining: 5 }))
  const caller = async (client: Client) => {
    while (performance.now() < end) {
      const { statusCode, body } = await client.request(requests[name])
      await body.dump()
      if (statusCode >= 300) throw new Error(`${name} answered ${statusCode}`)
      answered += 1
    }
  }
  await Promise.all(clients.flatMap((client) => Array.from({ length: 5 }, () => caller(client))))
  await Promise.all(clients.map((client) => client.close()))
  return { answered }
}
