// What a request costs beyond the code of its action. Each count is one that a profile does not show, and that crept in
// before: times belong to `npm run bench -- routes`.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { longDescribe } from '../support/forms.ts'
import type { Work } from './request-work-process.ts'

const requests = 50
const body = JSON.stringify({ title: 'Milk' })
const targets = {
  'a GET': 'GET /hello',
  'a GET with a query': 'GET /query?page=2',
  'a private GET': 'GET /private',
  'a POST': 'POST /todo',
  'one of five pipelined GETs': 'GET /hello',
} as const
type Target = keyof typeof targets

interface Server {
  readonly child: ChildProcess
  readonly port: number
  readonly authorization: string
}

async function openServer(role: 'waypost' | 'fastify'): Promise<Server> {
  const child = fork(path.join(import.meta.dirname, 'request-work-process.ts'), [role])
  const [served] = (await once(child, 'message')) as [Omit<Server, 'child'>]
  return { child, ...served }
}

/** Sends requests one after another over one connection. */
async function sendAll({ port, authorization }: Server, target: Target): Promise<void> {
  const isPost = target === 'a POST'
  const together = target === 'one of five pipelined GETs' ? 5 : 1
  const lines = [
    `${targets[target]} HTTP/1.1`,
    'Host: localhost',
    ...(target === 'a private GET' ? [`Authorization: ${authorization || 'none'}`] : []),
    ...(isPost ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
  ]
  const text = `${lines.join('\r\n')}\r\n\r\n${isPost ? body : ''}`
  const socket = connect(port, '127.0.0.1')
  let received = ''
  for (let sent = 0; sent < requests; sent += together) {
    socket.write(text.repeat(together))
    while (received.split('"Milk"').length <= together) received += String((await once(socket, 'data'))[0])
    assert.equal(received.split(/HTTP\/1\.1 200/).length, together + 1)
    received = ''
  }
  socket.destroy()
}

/**
 * Returns how often the server does each kind of work for one request, rounded, because it also does other things: the
 * least of three times, because it does more of these on a busy machine.
 */
async function countWork(server: Server, target: Target): Promise<Work> {
  const ask = async () => {
    const answer = once(server.child, 'message')
    server.child.send('count')
    return ((await answer) as [Work])[0]
  }
  await sendAll(server, target) // the first requests load code and tokens
  const counts: Work[] = []
  for (let time = 0; time < 3; time += 1) {
    await ask()
    await sendAll(server, target)
    counts.push(await ask())
  }
  const least = (what: string) => Math.min(...counts.map((one) => Math.round((one[what] ?? 0) / requests)))
  const names = new Set(counts.flatMap((one) => Object.keys(one)))
  return Object.fromEntries([...names].map((what) => [what, least(what)] as const).filter(([, times]) => times > 0))
}

function without(work: Work, names: readonly string[]): Work {
  return Object.fromEntries(Object.entries(work).filter(([name]) => !names.includes(name)))
}

describe('the work for a request', () => {
  let waypost: Server
  before(async () => {
    waypost = await openServer('waypost')
  })
  after(() => waypost.child.kill())

  /** The timer is that of the idle connection. A listener of the socket is the one that Node adds for each response. */
  const ofGet: Work = {
    PROMISE: 2,
    TickObject: 2,
    Timeout: 1,
    'header writeHead': 1,
    'listener LeanResponse finish': 1,
    'listener Socket close': 1,
    'system call that writes': 1,
  }
  const expected: Readonly<Record<Target, Work>> = {
    'a GET': ofGet,
    'a GET with a query': ofGet,
    'a private GET': ofGet,
    'a POST': { ...ofGet, 'content-type-parser:run': 1, bytesRead: 1 },
    // Responses that are ready together are written together, and one timer follows the last of them.
    'one of five pipelined GETs': { ...without(ofGet, ['system call that writes', 'Timeout']), bytesRead: 1 },
  }
  for (const target of Object.keys(targets) as Target[]) {
    test(`of ${target} is no more than this`, async () => {
      assert.deepEqual(await countWork(waypost, target), expected[target])
    })
  }

  // In CI, the tests above have the counts, which only another version of Fastify can exceed.
  longDescribe('in Fastify', () => {
    let fastify: Server
    before(async () => {
      fastify = await openServer('fastify')
    })
    after(() => fastify.child.kill())

    for (const target of Object.keys(targets) as Target[]) {
      test(`of ${target} has no fewer promises, ticks and timers`, async () => {
        const peer = await countWork(fastify, target)
        for (const what of ['PROMISE', 'TickObject', 'Timeout'])
          assert.ok((expected[target][what] ?? 0) <= (peer[what] ?? 0), `${what}: ${JSON.stringify(peer)}`)
      })
    }
  })
})
