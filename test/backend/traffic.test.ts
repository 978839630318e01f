import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { makeTrafficLog } from '../../src/backend/index.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

const files = {
  'waypost.yml':
    'routes:\n  /todo/:id: { scopes: [todo], methods: { GET: { action: src/todo.ts } } }\nevent: { todo_created: { scopes: [todo] } }\n',
  'src/todo.ts': actionFile('return {}'),
}

interface Line {
  readonly number: number
  readonly path: string
  readonly problem?: string | null
  readonly [name: string]: unknown
}

/** A server that streams its requests, like that of `dev`. */
async function openLive() {
  const traffic = makeTrafficLog()
  const world = await openProjectServer({ files, traffic, onResponse: (report) => traffic.add(report, 0) })
  const headers = await world.authorize('ann', ['todo', 'backend.operate'])
  return { world, traffic, headers, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

/** Collects the lines of the stream. `ended` resolves when the server has ended it. */
async function follow({ url }: ProjectServer, headers: Record<string, string>, after = 0) {
  return followPath(`${url}/backend/traffic?after=${after}`, headers)
}

async function followPath(url: string, headers: Record<string, string>) {
  const stopping = new AbortController()
  const response = await fetch(url, { headers, signal: stopping.signal })
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
  const lines: Line[] = []
  const read = async () => {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split('\n')
      text = parts.pop()!
      lines.push(...parts.filter(Boolean).map((line) => JSON.parse(line) as Line))
    }
  }
  const ended = read()
  ended.catch(() => undefined)
  return { lines, ended, stop: () => stopping.abort() }
}

test('dev streams its requests with user, route and code; those of the backend are left out', async () => {
  await using live = await openLive()
  const { world, headers } = live
  await send(world.port, { path: '/todo/1?a=b&access_token=secret', headers })
  const followed = await follow(world, headers)
  const { lines } = followed
  await until('the first request', () => lines.length === 1)
  await send(world.port, { path: '/todo/2' })
  await until('the second request', () => lines.length === 2)
  const [first, second] = lines
  assert.deepEqual(
    [first!.path, first!['route'], first!['status'], first!['user']],
    ['/todo/1?a=b&access_token=…', '/todo/:id', 200, 'ann'],
  )
  assert.deepEqual([second!['status'], second!['user'], second!['code']], [401, null, 'WP_AUTH_NO_TOKEN'])
  const later = await follow(world, headers, second!.number)
  await send(world.port, { path: '/todo/3' })
  await until('both have the third request', () => later.lines.length === 1 && lines.length === 3)
  assert.equal(later.lines[0]!.path, '/todo/3')
  later.stop()
  followed.stop()
})

test('a stream ends when a new generation serves and when the server closes, so that it delays neither', async () => {
  await using live = await openLive()
  const { world, headers } = live
  const before = await follow(world, headers)
  await world.deploy({ 'src/todo.ts': actionFile('return { changed: true }') })
  await before.ended
  const last = await follow(world, headers)
  await Promise.all([world.server.close(), last.ended])
})

test('deliveries of an event are streamed while the stream is open; then the subscription is removed', async () => {
  await using live = await openLive()
  const { world, headers } = live
  const url = `${world.url}/backend/event/todo_created/listen`
  const { db } = world.host.system
  const endpoints = async () => {
    const rows = await db.selectFrom('waypost_subscription').select('endpoint').execute()
    return rows.map(({ endpoint }) => endpoint)
  }
  const listening = await followPath(url, headers)
  const [endpoint] = await endpoints()
  const post = { method: 'POST', headers: { 'webhook-id': 'dlv_1', 'waypost-event': 'todo_created' }, body: '{"id":1}' }
  assert.equal((await fetch(endpoint!, post)).status, 204)
  await until('it is streamed', () => listening.lines.length === 1)
  const [line] = listening.lines
  assert.deepEqual([line!['id'], line!['body']], ['dlv_1', '{"id":1}'])
  assert.equal(typeof line!.problem, 'string', 'it is not signed')
  listening.stop()
  await until('it is removed', async () => (await endpoints()).length === 0)

  const before = await followPath(url, headers)
  await world.deploy({ 'src/todo.ts': actionFile('return { changed: 1 }') })
  await before.ended
  assert.equal((await endpoints()).length, 1, 'the page opens another stream')
  const [same] = await endpoints()
  const between = { ...post, headers: { ...post.headers, 'webhook-id': 'dlv_2' }, body: '{"id":2}' }
  assert.equal((await fetch(same!, between)).status, 204)
  const last = await followPath(url, headers)
  await until('what arrived meanwhile is streamed', () => last.lines.length === 1)
  assert.equal(last.lines[0]!['id'], 'dlv_2')
  assert.deepEqual(await endpoints(), [same], 'the subscription is continued')
  const other = await followPath(url, headers)
  assert.equal((await endpoints()).length, 2, 'another page has its own')
  await Promise.all([world.server.close(), last.ended, other.ended])
  assert.deepEqual(await endpoints(), [], 'both are removed when the server closes')
})

test('a page continues its own subscription after a reload, if it may still receive the event', async () => {
  await using live = await openLive()
  const { world, headers } = live
  const url = `${world.url}/backend/event/todo_created/listen`
  const { db } = world.host.system
  const endpoints = async () => {
    const rows = await db.selectFrom('waypost_subscription').select('endpoint').orderBy('id').execute()
    return rows.map(({ endpoint }) => endpoint)
  }
  const pages = [await followPath(`${url}?reader=a`, headers)]
  const [first] = await endpoints()
  pages.push(await followPath(`${url}?reader=b`, headers))
  const second = (await endpoints()).find((endpoint) => endpoint !== first)!
  await world.deploy({ 'src/todo.ts': actionFile('return { changed: 2 }') })
  await Promise.all(pages.map((page) => page.ended))
  const post = async (endpoint: string, id: string) => {
    const of = { 'webhook-id': id, 'waypost-event': 'todo_created' }
    assert.equal((await fetch(endpoint, { method: 'POST', headers: of, body: '{}' })).status, 204)
  }
  await post(first!, 'dlv_a')
  await post(second, 'dlv_b')
  const [b, a] = [await followPath(`${url}?reader=b`, headers), await followPath(`${url}?reader=a`, headers)]
  await until('each has its own', () => a.lines.length === 1 && b.lines.length === 1)
  assert.deepEqual([a.lines[0]!['id'], b.lines[0]!['id']], ['dlv_a', 'dlv_b'])

  await db.deleteFrom('waypost_subscription').where('endpoint', '=', first!).execute()
  const changed = files['waypost.yml'].replace('todo_created: { scopes: [todo] }', 'todo_created: { scopes: [other] }')
  await world.deploy({ 'src/todo.ts': actionFile('return { changed: 3 }') })
  await Promise.all([a.ended, b.ended])
  const again = await followPath(`${url}?reader=a`, headers)
  assert.deepEqual(new Set(await endpoints()), new Set([first, second]), 'it is made again')
  await world.deploy({ 'waypost.yml': changed })
  await again.ended
  const { status } = await send(world.port, { path: '/backend/event/todo_created/listen?reader=a', headers })
  assert.equal(status, 403)
  await until('it is removed', async () => !(await endpoints()).includes(first!))
})

test('requests are listed and an event is listened to only in dev, if the event exists and the caller has its scopes', async () => {
  await using live = await openLive()
  const { world, headers } = live
  const listen = async (event: string, as: Record<string, string>) => {
    const { status, body } = await send(world.port, { path: `/backend/event/${event}/listen`, headers: as })
    return [status, String(body.type).split('#')[1]]
  }
  assert.deepEqual(await listen('unknown', headers), [400, 'WP_EVENTS_UNKNOWN'])
  const bob = await world.authorize('bob', ['backend.operate'])
  assert.deepEqual(await listen('todo_created', bob), [403, 'WP_EVENTS_SCOPE'])
  await using server = await openProjectServer({ files })
  const ann = await server.authorize('ann', ['todo', 'backend.operate'])
  const { body } = await send(server.port, { path: '/backend/event/todo_created/listen', headers: ann })
  assert.match(body.type, /#WP_BACKEND_TRAFFIC$/)
  const listed = await send(server.port, { path: '/backend/traffic', headers: ann })
  assert.deepEqual([listed.status, listed.body.type], [404, 'urn:waypost:errors#WP_BACKEND_TRAFFIC'])
})

const report = { id: '1', method: 'GET', path: '/', status: 200, ms: 1, user: undefined, reason: undefined }

/** Reads the first lines, which are sent as one chunk. */
async function readNumbers(stream: Readable): Promise<number[]> {
  for await (const chunk of stream) {
    const numbers = String(chunk).match(/\d+/g)
    if (numbers !== null) return numbers.map(Number)
  }
  return []
}

test('a reader that is slow or late gets the last 500 requests', async () => {
  const traffic = makeTrafficLog()
  const slow = traffic.stream(0, ({ number }) => ({ number }))
  for (let count = 0; count < 5000; count += 1) traffic.add({ ...report, dropped: undefined }, 0)
  const late = traffic.stream(0, ({ number }) => ({ number }))
  for (const stream of [slow, late]) {
    const numbers = await readNumbers(stream)
    assert.deepEqual([numbers.length, numbers.at(0), numbers.at(-1)], [500, 4501, 5000])
  }
})

test('numbers increase when dev restarts', async () => {
  const traffic = makeTrafficLog(1000)
  traffic.add({ ...report, dropped: undefined }, 0)
  assert.deepEqual(await readNumbers(traffic.stream(999, ({ number }) => ({ number }))), [1001])
})
