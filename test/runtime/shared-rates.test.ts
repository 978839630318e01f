import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

type Count = (key: string, windowMs: number) => unknown
const shared = globalThis as { countInTest?: Count }

const plugin = `import { definePlugin } from 'waypost'
export default definePlugin({
  name: 'tally',
  connections: {
    tally: {
      description: 'Counts', config: { type: 'object' }, clientType: '{}', capabilities: ['count'],
      open: async () => ({ client: {}, async check() {}, async close() {}, count: (key, windowMs) => globalThis.countInTest(key, windowMs) }),
    },
  },
})
`
const files = {
  'package.json': '{ "type": "module" }',
  'plugins/tally.ts': plugin,
  'src/ok.ts': actionFile('return {}'),
  'waypost.yml': `plugins: [./plugins/tally.ts]
connection: { Tally: { class: tally } }
routes:
  /a: { rate: few, methods: { GET: { public: true, action: src/ok.ts } } }
  /b: { rate: few, methods: { GET: { public: true, action: src/ok.ts } } }
  /c: { rate: others, methods: { GET: { public: true, action: src/ok.ts } } }
  /alone: { rate: alone, methods: { GET: { public: true, action: src/ok.ts } } }
rate:
  few: { limit: 3, window: 1m, connection: Tally }
  others: { limit: 3, window: 1m, connection: Tally }
  alone: { limit: 1, window: 1m }
`,
}

describe('a rate with a connection', () => {
  let counts = new Map<string, number>()
  const count: Count = async (key) => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return { count: counts.get(key)!, resetMs: 40_000 }
  }
  let servers: readonly ProjectServer[]
  let [one, other] = [undefined, undefined] as unknown as readonly [ProjectServer, ProjectServer]
  let now = Date.now()
  before(async () => {
    shared.countInTest = count
    const clock = { now: () => now, monotonic: () => performance.now() }
    servers = [await openProjectServer({ files, clock }), await openProjectServer({ files, clock })]
    ;[one, other] = servers as [ProjectServer, ProjectServer]
  })
  after(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    shared.countInTest = count
    for (const server of servers)
      await until('the connection is used again', async () => {
        const { headers } = await get('/c', server)
        return headers['x-ratelimit-reset'] === '40'
      })
    counts = new Map()
    now += 3_600_000
    for (const server of servers) (server.logs as unknown[]).length = 0
  })
  const get = (path: string, server = one) => send(server.port, { path })
  const linesOf = (server: ProjectServer) =>
    server.logs.filter(({ connection }) => connection === 'Tally').map(({ level, msg }) => [level, msg].join(' '))
  const failed = '40 counting requests across servers failed; this server counts its own requests'
  const works = '30 counting requests across servers works again'

  test('is one budget for all servers and for all routes that name it', async () => {
    const answers = [await get('/a'), await get('/b', other), await get('/a', other), await get('/a'), await get('/b')]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429, 429],
    )
    assert.equal((await get('/c')).status, 200)
    assert.equal(counts.size, 2)
    for (const key of counts.keys()) assert.match(key, /^http:\/\/localhost:3000 (few|others) address /)
  })

  test('says in headers what is left of the common budget, and when the common window ends', async () => {
    await get('/a', other)
    const { headers } = await get('/a')
    const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    assert.deepEqual(
      names.map((name) => headers[name]),
      ['3', '1', '40'],
    )
    await get('/a', other)
    const refused = await get('/a')
    assert.deepEqual(
      [refused.status, refused.headers['retry-after'], refused.body.hint],
      [429, '40', 'Try again in 40 s.'],
    )
  })

  test('does not change rates without one', async () => {
    assert.deepEqual([(await get('/alone')).status, (await get('/alone', other)).status], [200, 200])
    assert.equal(counts.size, 0)
  })

  for (const [title, broken] of [
    ['rejects', async () => Promise.reject(new Error('no route to host'))],
    [
      'throws',
      () => {
        throw new Error('not connected')
      },
    ],
    ['never answers', () => new Promise(() => undefined)],
    ['answers after the limit', () => pause(300, { count: 1, resetMs: 1 })],
    ['answers something else', async () => 'OK'],
    ['answers a text', async () => ({ count: 'many', resetMs: 1000 })],
  ] as const)
    test(`whose connection ${title} is counted by the server, with one warning, and one line when it is back`, async () => {
      await get('/a')
      shared.countInTest = broken
      const down = [await get('/a'), await get('/a'), await get('/a')]
      assert.deepEqual(
        down.map(({ status, headers }) => [status, headers['x-ratelimit-remaining']]),
        [
          [200, '1'],
          [200, '0'],
          [429, '0'],
        ],
        'the request before the outage counts',
      )
      assert.equal(down[2]!.headers['retry-after'], '60')
      assert.deepEqual(linesOf(one), [failed])
      assert.deepEqual(linesOf(other), [])
      shared.countInTest = count
      await until('the connection is used again', async () => {
        await get('/c')
        return linesOf(one).length > 1
      })
      assert.deepEqual(linesOf(one), [failed, works])
      assert.equal((await get('/a')).status, 200, 'counted by the connection again')
    })

  test('asks a connection that is down only once a second', async () => {
    let asked = 0
    shared.countInTest = () => {
      asked += 1
      return new Promise(() => undefined)
    }
    await get('/a')
    const start = performance.now()
    for (let turn = 0; turn < 50; turn += 1) await get('/c')
    assert.ok(asked <= 2 + (performance.now() - start) / 1000, `asked ${asked} times`)
  })

  test('a server that was blocked for a while still uses an answer that has arrived', async () => {
    shared.countInTest = async (key, windowMs) => {
      const counted = pause(1)
        .then(() => pause(20))
        .then(() => count(key, windowMs))
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250))
      return counted
    }
    assert.equal((await get('/a')).status, 200)
    assert.deepEqual(linesOf(one), [])
    assert.equal(counts.size, 1)
  })
})
