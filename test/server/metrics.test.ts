import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser, issueTokens, loginClientId, openKeyRing, openTokenIssuer } from '../../src/auth/index.ts'
import { latencyBounds } from '../../src/events/index.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { formatMetrics } from '../../src/server/metrics/format.ts'
import { bearer, startTestServer, type TestServer } from '../support/server.ts'
import { chooseKinds } from '../support/forms.ts'

for (const kind of chooseKinds('sqlite')) {
  describe(`/metrics on ${kind}`, () => {
    let server: TestServer
    let headers: { authorization: string }
    before(async () => {
      server = await startTestServer({ kind, events: { e: {} } })
      headers = await tokenFor(server, 'backend.read')
    })
    after(() => server.close())

    test('requires a token with backend.read', async () => {
      assert.equal((await server.send('GET /metrics')).status, 401)
      const { status, body } = await server.send('GET /metrics', { headers: await tokenFor(server, 'consumer') })
      assert.equal(status, 403)
      assert.match(String(body.detail), /backend\.read/)
      const answer = await server.send('GET /metrics', { headers })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    })

    test('speaks the text format of Prometheus, each metric once', async () => {
      const { text } = await server.send('GET /metrics', { headers })
      const lines = text.trimEnd().split('\n')
      const form =
        /^(?:# HELP \w+ \S.*|# TYPE \w+ (?:counter|gauge|histogram)|\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [\d.e+-]+)$/
      assert.deepEqual(
        lines.filter((line) => !form.test(line)),
        [],
      )
      const named = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2])
      assert.equal(new Set(named).size, named.length)
      const samples = lines.filter((line) => !line.startsWith('#')).map((line) => line.slice(0, line.lastIndexOf(' ')))
      assert.equal(new Set(samples).size, samples.length)
    })

    test('shows pending deliveries, how long the oldest is due, and dead ones', async () => {
      const { db } = server.host.system
      const now = server.clock.now()
      const subscription = { user_id: 'u', event: 'e', endpoint: '', secret: '', revision: 1, created_at: 1 }
      for (const [id, status, opened] of [
        ['well', 'active', null],
        ['open', 'active', now + 60_000],
        ['paused', 'paused', null],
      ] as const) {
        await db
          .insertInto('waypost_subscription')
          .values({ ...subscription, id, status, endpoint: id, failures: 0, open_until: opened })
          .execute()
      }
      const add = async (
        id: string,
        values: { sub: string; due: number; status?: 'dead' | 'pending' | 'delivered' },
      ) => {
        const delivery = { id, message_id: id, subscription_id: values.sub, failures: 0, lost: 0, created_at: 1 }
        await db
          .insertInto('waypost_delivery')
          .values({ ...delivery, status: values.status ?? 'pending', due_at: values.due, scheduled_at: 1 })
          .execute()
      }
      await add('a', { sub: 'well', due: now - 30_000 })
      await add('b', { sub: 'well', due: now - 10_000 })
      await add('c', { sub: 'well', due: now + 60_000 })
      await add('d', { sub: 'open', due: now - 90_000 })
      await add('e', { sub: 'paused', due: now - 90_000 })
      await add('f', { sub: 'well', due: now - 90_000, status: 'dead' })
      await add('g', { sub: 'well', due: now - 90_000, status: 'delivered' })
      const message = {
        id: 'm',
        event: 'e',
        data: '1',
        users: null,
        created_at: now - 480_000,
        fanned_out_at: null,
        fan_cursor: null,
      }
      await db.insertInto('waypost_message').values(message).execute()
      const user = { id: 'u', name: 'u', email: null, password_hash: null, status: 'active' as const, created_at: 1 }
      await db.insertInto('waypost_user').values(user).execute()
      await db.insertInto('waypost_user_scope').values({ user_id: 'u', scope: 'consumer' }).execute()

      const numbers = await read(server, headers)
      const states = ['due', 'later', 'held', 'dead'].map((state) => numbers[`waypost_deliveries{state="${state}"}`])
      // The message will be delivered to the active subscriptions without an open breaker.
      assert.deepEqual(states, [3, 1, 3, 1])
      assert.equal(numbers['waypost_messages_waiting'], 1)
      const oldest = numbers['waypost_delivery_oldest_due_seconds']!
      assert.ok(oldest >= 480 && oldest < 600, String(oldest))
    })

    test('counts attempts by outcome and by how long they took', async () => {
      const { db } = server.host.system
      const totals = [
        { outcome: 'delivered', bucket: 0, shard: 0, count: 3, sum_ms: 15 },
        { outcome: 'delivered', bucket: 0, shard: 9, count: 4, sum_ms: 20 },
        { outcome: 'retrying', bucket: 2, shard: 0, count: 2, sum_ms: 70 },
        { outcome: 'dead', bucket: latencyBounds.length, shard: 5, count: 1, sum_ms: 40_000 },
      ] as const
      await db
        .insertInto('waypost_attempt_total')
        .values([...totals])
        .execute()
      const numbers = await read(server, headers)
      const name = 'waypost_delivery_attempt_duration_seconds'
      const wanted = {
        'waypost_delivery_attempts_total{outcome="delivered"}': 7,
        'waypost_delivery_attempts_total{outcome="retrying"}': 2,
        'waypost_delivery_attempts_total{outcome="dead"}': 1,
        [`${name}_bucket{le="0.01"}`]: 7,
        [`${name}_bucket{le="0.025"}`]: 7,
        [`${name}_bucket{le="0.05"}`]: 9,
        [`${name}_bucket{le="30"}`]: 9,
        [`${name}_bucket{le="+Inf"}`]: 10,
        [`${name}_sum`]: 40.105,
        [`${name}_count`]: 10,
      }
      assert.partialDeepStrictEqual(numbers, wanted)
    })

    test('shows the resources of this process', async () => {
      const numbers = await read(server, headers)
      assert.ok(numbers['process_resident_memory_bytes']! > 1e7)
      assert.ok(numbers['process_cpu_seconds_total']! > 0)
      assert.ok(Math.abs(numbers['process_start_time_seconds']! - Date.now() / 1000) < 86_400)
    })
  })
}

test('a label may hold any text', () => {
  const samples = [{ labels: { a: 'quote " back \\ line \n end' }, value: 1 }]
  assert.equal(
    formatMetrics([{ name: 'm', type: 'gauge', help: 'h', samples }]),
    '# HELP m h\n# TYPE m gauge\nm{a="quote \\" back \\\\ line \\n end"} 1\n',
  )
})

async function tokenFor({ host, clock }: TestServer, scope: string) {
  const { secrets, issuer } = await openIdentity(host)
  const user = await addUser(host.system, { name: scope, scopes: [scope] })
  const keys = await openKeyRing(host.system, secrets)
  const signer = { system: host.system, keys, secrets, issuer, clock, settings: () => defaultSettings }
  const grantee = { userId: user.id, clientId: loginClientId, scopes: [scope] }
  return bearer((await issueTokens(openTokenIssuer(signer), grantee, { refresh: false })).accessToken)
}

async function read(server: TestServer, headers: { authorization: string }): Promise<Record<string, number>> {
  const { text } = await server.send('GET /metrics', { headers })
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), Number(line.slice(space + 1))]
    }),
  )
}
