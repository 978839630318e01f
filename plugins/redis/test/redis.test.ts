import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Log } from 'waypost'
import { lacksRedis, startRedis, type TestRedis } from '../../../test/support/redis.ts'
import { until } from '../../../test/support/until.ts'
import plugin from '../src/index.ts'
import { redis as redisClass } from '../src/redis.ts'

const services = { config: {}, now: () => new Date(), fetch: () => Promise.reject(new Error('not used')), folder: '/' }

function makeLog() {
  const lines: string[] = []
  const add = (fields: object | string, message?: string) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  return { lines, log: { debug: add, info: add, warn: add, error: add } as Log }
}

function openClass(url: string, timeout = '1s') {
  const { lines, log } = makeLog()
  const open = async () => {
    const { count, ...rest } = await redisClass.open({ url, timeout }, { ...services, log, name: 'Cache' })
    return { ...rest, count: count!, lines }
  }
  return open()
}
type Opened = Awaited<ReturnType<typeof openClass>>

const isUp = async ({ check }: Opened) => {
  await until('Redis responds', () =>
    check().then(
      () => true,
      () => false,
    ),
  )
}
const isDown = async ({ check }: Opened) => {
  await until('Redis is down', () =>
    check().then(
      () => false,
      () => true,
    ),
  )
}

describe('a connection of the class redis', { skip: lacksRedis }, () => {
  let redis: TestRedis
  let opened: Opened
  before(async () => {
    redis = await startRedis()
  })
  after(() => redis.stop())
  beforeEach(async () => {
    opened = await openClass(redis.url)
    await isUp(opened)
  })
  afterEach(async () => {
    redis.thaw()
    await opened.close()
  })

  test('provides the client of @redis/client, connected', async () => {
    const { client } = opened
    await client.set('greeting', 'hello')
    assert.equal(await client.get('greeting'), 'hello')
    assert.deepEqual(await client.multi().incr('n').incr('n').exec(), [1, 2])
    assert.equal(await client.clientGetName(), 'waypost-Cache')
  })

  test('counts each call once, however many clients count at once', async () => {
    const others = await Promise.all([openClass(redis.url), openClass(redis.url)])
    for (const other of others) await isUp(other)
    const all = [opened, ...others]
    const counted = await Promise.all(
      Array.from({ length: 300 }, (_, index) => all[index % 3]!.count('together', 60_000)),
    )
    assert.deepEqual(
      counted.map(({ count }) => count).toSorted((a, b) => a - b),
      Array.from({ length: 300 }, (_, index) => index + 1),
    )
    for (const other of others) await other.close()
  })

  test('the window starts with the first call; the counter restarts at its end', async () => {
    const { client, count } = opened
    const first = await count('window', 60_000)
    assert.deepEqual(first, { count: 1, resetMs: 60_000 })
    await client.pExpire('waypost:count:window', 30_000)
    const second = await count('window', 60_000)
    assert.equal(second.count, 2)
    assert.ok(second.resetMs > 0 && second.resetMs <= 30_000)
    await client.pExpire('waypost:count:window', 1)
    await until('the window ends', async () => (await client.exists('waypost:count:window')) === 0)
    assert.deepEqual(await count('window', 60_000), first)
  })

  test('a shorter window applies at once, and a counter without an end gets one', async () => {
    const { client, count } = opened
    await count('shorter', 3_600_000)
    assert.deepEqual(await count('shorter', 1000), { count: 2, resetMs: 1000 })
    await client.set('waypost:count:endless', '7')
    assert.deepEqual(await count('endless', 1000), { count: 8, resetMs: 1000 })
  })

  test('counts after Redis has forgotten the script', async () => {
    await opened.count('script', 60_000)
    await opened.client.sendCommand(['SCRIPT', 'FLUSH', 'SYNC'])
    assert.equal((await opened.count('script', 60_000)).count, 2)
    const { info } = opened.client
    assert.match(await info.call(opened.client, 'commandstats'), /cmdstat_evalsha:calls=/)
  })

  test('Redis ends: commands fail at once; when it is back, the connection works again', async () => {
    await redis.kill()
    await isDown(opened)
    await assert.rejects(opened.client.get('greeting'))
    await assert.rejects(opened.count('down', 1000))
    await assert.rejects(opened.check(), /ECONNREFUSED|closed/)
    await redis.restart()
    await isUp(opened)
    assert.deepEqual(await opened.count('down', 1000), { count: 1, resetMs: 1000 })
    assert.deepEqual(
      opened.lines.map((line) => line.replace(/ \{.*/, '')),
      ['the connection to Redis failed', 'connected to Redis again'],
    )
  })

  test('Redis hangs: waiting commands and checks fail; when it responds again, the connection works', async () => {
    redis.freeze()
    const waiting = await Promise.allSettled([opened.client.get('a'), opened.count('hung', 1000), opened.check()])
    for (const { status } of waiting) assert.equal(status, 'rejected')
    await assert.rejects(opened.client.get('a'), 'not connected')
    redis.thaw()
    await isUp(opened)
    assert.equal(await opened.client.get('a'), null)
    assert.equal(opened.lines.length, 2, opened.lines.join('\n'))
  })

  test('Redis hangs: the number of commands that wait is limited', async () => {
    redis.freeze()
    const waiting = Array.from({ length: 50_000 }, () => opened.client.get('a'))
    const settled = Promise.allSettled(waiting)
    await assert.rejects(opened.client.get('a'), /queue is full/)
    await opened.close()
    assert.ok((await settled).every(({ status }) => status === 'rejected'))
  })

  test('closes while Redis hangs, and what waits fails', async () => {
    redis.freeze()
    const waiting = opened.client.get('a')
    await Promise.all([assert.rejects(waiting), opened.close()])
    await assert.rejects(opened.check(), /The connection is closed/)
    await assert.rejects(opened.count('closed', 1000))
  })

  test('subscriptions survive when Redis restarts; copies belong to the caller', async () => {
    const copy = opened.client.duplicate()
    copy.on('error', () => undefined)
    await copy.connect()
    const heard: string[] = []
    await copy.subscribe('news', (message) => void heard.push(message))
    await redis.restart()
    await isUp(opened)
    await until('the news arrives', async () => {
      await opened.client.publish('news', 'hello')
      return heard.length > 0
    })
    copy.destroy()
  })
})

describe('a Redis with a password', { skip: lacksRedis }, () => {
  let redis: TestRedis
  before(async () => {
    redis = await startRedis(['--requirepass', 'geheim'])
  })
  after(() => redis.stop())

  test('is opened with it', async () => {
    const opened = await openClass(redis.url.replace('//', '//:geheim@'))
    await isUp(opened)
    await opened.close()
  })

  for (const [title, login] of [
    ['another password', ':falsch@'],
    ['none', ''],
  ] as const)
    test(`rejects ${title}, and the reason does not contain it`, async () => {
      const opened = await openClass(redis.url.replace('//', `//${login}`))
      await assert.rejects(opened.check(), /WRONGPASS|NOAUTH/)
      assert.doesNotMatch(opened.lines.join('\n'), /falsch|geheim/)
      await opened.close()
    })
})

const lacksOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'needs openssl'

test('rediss:// checks the certificate of Redis', { skip: lacksRedis || lacksOpenssl }, async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-redis-'))
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(folder.path, name)) as [string, string]
  const subject = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1']
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    ...subject,
  ])
  assert.equal(made.status, 0, String(made.stderr))
  const redis = await startRedis(['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'])
  const trusted = getCACertificates('default')
  try {
    const untrusted = await openClass(redis.url)
    await assert.rejects(untrusted.check(), /self-signed certificate/)
    await untrusted.close()
    setDefaultCACertificates([...trusted, await readFile(cert, 'utf8')])
    const opened = await openClass(redis.url)
    await isUp(opened)
    await opened.close()
  } finally {
    setDefaultCACertificates(trusted)
    await redis.stop()
  }
})

describe('a port that accepts connections and never answers', () => {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    accepted += 1
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.resume()
  })
  let url = ''
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })

  for (const scheme of ['redis', 'rediss'] as const)
    test(`counts as down, and each attempt closes the previous socket, ${scheme}`, async () => {
      const opened = await openClass(url.replace('redis', scheme), '200ms')
      await assert.rejects(opened.count('hung', 1000))
      await assert.rejects(opened.check(), /did not respond within|timeout/i)
      const before = accepted
      await until('it is tried again', () => accepted > before + 1)
      await until('the previous socket is closed', () => sockets.size <= 1)
      await assert.rejects(opened.client.set('a', 'b'), 'nothing waits for a connection')
      await opened.close()
      await until('the socket is closed', () => sockets.size === 0)
      assert.equal(opened.lines.length, 1, 'one warning, not one for each attempt')
    })
})

test('a URL that is not valid fails without showing its password', async () => {
  for (const url of ['redis://:geheim@host:port', 'mysql://a:geheim@b/c', 'redis://a:geheim@b/db', 'redis://a:%@b'])
    await assert.rejects(openClass(url), (error: Error) => {
      assert.match(error.message, /not a valid Redis URL/)
      assert.equal(error.cause, undefined)
      return true
    })
})

test('the plugin declares its capability, and marks the URL as secret', () => {
  const { redis } = plugin.connections!
  assert.deepEqual(redis!.capabilities, ['count'])
  const { properties } = redis!.config as { properties: { url: { writeOnly: boolean } } }
  assert.equal(properties.url.writeOnly, true)
})
