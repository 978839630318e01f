import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Answer } from './receiver.ts'
import { allAttempts } from '../../src/events/index.ts'
import { day, type World, onAnyDatabase } from './world.ts'

const minute = 60_000
const hour = 60 * minute
const quick = { delivery_delays: [1000, 1000, 1000], delivery_timeout: 300 }

onAnyDatabase('what an answer means', (world) => {
  const counts: readonly {
    name: string
    answers: readonly Answer[]
    posts: number
    status: string
    failures: number
  }[] = [
    { name: '200', answers: [200], posts: 1, status: 'delivered', failures: 0 },
    { name: '204', answers: [204], posts: 1, status: 'delivered', failures: 0 },
    { name: '299', answers: [299], posts: 1, status: 'delivered', failures: 0 },
    { name: '500 and 503, then 200', answers: [500, 503, 200], posts: 3, status: 'delivered', failures: 2 },
    { name: 'three failures, then 200', answers: [404, 400, 500, 200], posts: 4, status: 'delivered', failures: 3 },
    { name: '500 always', answers: [500], posts: 4, status: 'dead', failures: 4 },
    { name: '304 always', answers: [304], posts: 4, status: 'dead', failures: 4 },
  ]
  for (const { name, answers, posts, status, failures } of counts) {
    test(`${name} makes ${posts} POSTs and ends ${status}`, async () => {
      const receiver = await prepare(world(), (count) => answers[Math.min(count, answers.length) - 1]!)
      await executeForADay(world())
      assert.equal(receiver.received.length, posts)
      const [delivery] = await world().deliveries()
      assert.partialDeepStrictEqual(delivery, { status, failures, lost: 0 })
      assert.equal((await world().attemptRows()).length, posts)
      assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
    })
  }

  test('each of the three delays is as configured, within a fifth', async () => {
    await prepare(world(), () => 500)
    for (const delay of [minute, 10 * minute, 60 * minute]) {
      const began = world().clock.now()
      assert.partialDeepStrictEqual(await world().execute(), { attempted: 1, retrying: 1 })
      const ended = world().clock.now()
      const [delivery] = await world().deliveries()
      assert.ok(delivery!.due_at >= began + delay * 0.8, `${delivery!.due_at - began} is too soon for ${delay}`)
      assert.ok(delivery!.due_at <= ended + delay * 1.2 + 1, `${delivery!.due_at - ended} is too late for ${delay}`)
      world().clock.forward(delivery!.due_at - world().clock.now() - 30_000)
      assert.equal((await world().execute()).attempted, 0, 'it is not sent before it is due')
      world().clock.forward(30_000)
    }
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1, dead: 1 })
  })

  test('delays are random, so that deliveries that failed together are not retried together', async () => {
    const receiver = await world().openReceiver(500)
    const user = await world().addUser()
    await world().addSubscriptions(
      user,
      'note',
      Array.from({ length: 20 }, (_, index) => `${receiver.url}/${index}`),
    )
    await world().dispatch('note', 1)
    await world().execute()
    const due = (await world().deliveries()).map((delivery) => delivery.due_at)
    assert.ok(Math.max(...due) - Math.min(...due) > minute * 0.05)
  })

  const retryAfter: readonly { header: (now: number) => string; sooner: number; later: number }[] = [
    { header: () => '600', sooner: 10 * minute, later: 10 * minute + 5000 },
    { header: () => '5', sooner: minute * 0.8, later: minute * 1.2 + 5000 },
    { header: () => '9999999', sooner: day, later: day + 5000 },
    { header: () => '9'.repeat(400), sooner: day, later: day + 5000 },
    {
      header: (now) => new Date(now + 20 * minute).toUTCString(),
      sooner: 20 * minute - 1000,
      later: 20 * minute + 5000,
    },
    { header: (now) => new Date(now - minute).toUTCString(), sooner: minute * 0.8, later: minute * 1.2 + 5000 },
    { header: () => '599.2', sooner: 10 * minute, later: 10 * minute + 5000 },
    { header: () => '7200.5', sooner: 2 * hour, later: 2 * hour + 6000 },
    { header: () => ' 600.0 ', sooner: 10 * minute, later: 10 * minute + 5000 },
    ...['2030-01-01', '5, 10', '1e9', '-600', 'Fri', '2045.5.1', '0x258'].map((text) => ({
      header: () => text,
      sooner: minute * 0.8,
      later: minute * 1.2 + 5000,
    })),
    { header: () => 'soon', sooner: minute * 0.8, later: minute * 1.2 + 5000 },
  ]
  for (const { header, sooner, later } of retryAfter) {
    const shown = header(Date.parse('2026-11-20T12:00:00Z')).slice(0, 40)
    test(`Retry-After: ${shown} is kept, at most a day`, async () => {
      await prepare(world(), () => (response) => {
        response.writeHead(503, { 'retry-after': header(world().clock.now()) }).end()
      })
      const began = world().clock.now()
      await world().execute()
      const ended = world().clock.now()
      const due = (await world().deliveries())[0]!.due_at
      assert.ok(due >= began + sooner && due <= ended + later, `${due - began} ms`)
    })
  }

  test('a redirect is a failure and is not followed', async () => {
    const target = await world().openReceiver(200)
    const receiver = await prepare(world(), () => (response) => response.writeHead(307, { location: target.url }).end())
    await executeForADay(world())
    assert.equal(receiver.received.length, 4)
    assert.equal(target.received.length, 0)
    assert.deepEqual(
      (await world().attemptRows()).map((row) => row.outcome),
      Array.from({ length: 4 }, () => 'status 307'),
    )
  })

  test('an endpoint that never responds is a failure after the time limit', async () => {
    world().settings = { ...world().settings, ...quick }
    const receiver = await prepare(world(), () => () => {})
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1, retrying: 1 })
    assert.equal(receiver.received.length, 1)
    assert.partialDeepStrictEqual(await world().attemptRows(), [{ outcome: 'timeout 0.3 s', status: null }])
  })

  test('a refused connection and a reset one are failures', async () => {
    const probe = createServer()
    await once(probe.listen(0, '127.0.0.1'), 'listening')
    const { port } = probe.address() as AddressInfo
    await once(probe.close(), 'close')
    const resetting = await world().openReceiver((response) => response.socket?.destroy())
    const user = await world().addUser()
    await world().subscribe(user, 'note', `http://127.0.0.1:${port}/`)
    await world().subscribe(user, 'note', resetting.url)
    await world().dispatch('note', 1)
    assert.deepEqual(await world().execute(), { attempted: 2, delivered: 0, retrying: 2, dead: 0 })
    const outcomes = (await world().attemptRows()).map((row) => row.outcome)
    assert.deepEqual(outcomes.toSorted(), ['ECONNREFUSED', 'UND_ERR_SOCKET'])
  })

  test('410 ends the delivery, disables that subscription and cancels its pending deliveries', async () => {
    const gone = await world().openReceiver()
    const other = await world().openReceiver()
    const user = await world().addUser()
    const { id } = await world().subscribe(user, 'note', gone.url)
    const { id: kept } = await world().subscribe(user, 'other_note', gone.url)
    await world().subscribe(user, 'note', other.url)
    gone.choose = (count) => (count === 1 ? 500 : 410)
    await world().dispatch('note', 1)
    await world().execute() // this one waits for its resend
    await world().dispatch('note', 2)
    assert.deepEqual(await world().execute(), { attempted: 2, delivered: 1, retrying: 0, dead: 1 })
    const states = (await world().deliveries()).filter((row) => row.subscription_id === id).map((row) => row.status)
    assert.deepEqual(states.toSorted(), ['cancelled', 'dead'])
    const rows = await world().system.db.selectFrom('waypost_subscription').selectAll().execute()
    const statusOf = (wanted: string) => rows.find((row) => row.id === wanted)?.status
    assert.equal(statusOf(id), 'disabled')
    assert.equal(statusOf(kept), 'active')

    await world().dispatch('note', 3)
    world().clock.forward(day)
    await world().execute()
    assert.equal(gone.received.length, 2)
    assert.equal(other.received.length, 3)
  })

  test('a 410 of the previous endpoint disables nothing, and the new one gets the resend', async () => {
    const { system } = world()
    const fresh = await world().openReceiver()
    const before = await prepare(world(), () => (response) => {
      const change = system.db.updateTable('waypost_subscription').set({ endpoint: fresh.url, revision: 2 })
      void change.execute().then(() => response.writeHead(410).end())
    })
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1, retrying: 1 })
    await executeForADay(world())
    assert.equal(before.received.length, 1)
    assert.equal(fresh.received.length, 1)
    assert.equal((await world().deliveries())[0]!.status, 'delivered')
  })

  test('a response is kept up to 4 KB, without characters that PostgreSQL cannot store', async () => {
    await prepare(world(), () => (response) => response.writeHead(500).end(`\0${'é'.repeat(5000)}`))
    await world().execute()
    assert.partialDeepStrictEqual(await world().attemptRows(), [{ status: 500, answer: 'é'.repeat(2047) }])
  })

  test('attempts are counted by outcome and latency, across all runs', async () => {
    const { db } = world().system
    await db.deleteFrom('waypost_attempt_total').execute()
    await prepare(world(), (count) => (count < 3 ? 500 : 204))
    await executeForADay(world())
    const totals = await db.selectFrom('waypost_attempt_total').selectAll().execute()
    const countOf = (outcome: string) =>
      totals.filter((one) => one.outcome === outcome).reduce((sum, one) => sum + one.count, 0)
    assert.deepEqual([countOf('retrying'), countOf('delivered'), countOf('dead')], [2, 1, 0])
    const latencies = await db.selectFrom(allAttempts.as('attempt')).select('latency_ms').execute()
    assert.equal(
      totals.reduce((sum, one) => sum + one.sum_ms, 0),
      latencies.reduce((sum, one) => sum + one.latency_ms, 0),
    )
  })

  test('the result returned to the caller equals the recorded one', async () => {
    await prepare(world(), () => 500)
    await executeForADay(world())
    const reported = world().attempts.map(({ outcome, attempt }) => `${attempt} ${outcome}`)
    assert.deepEqual(reported, ['1 retrying', '2 retrying', '3 retrying', '4 dead'])
  })
})

async function prepare(world: World, choose: (count: number) => Answer) {
  const receiver = await world.openReceiver()
  receiver.choose = choose
  await world.subscribe(await world.addUser(), 'note', receiver.url)
  await world.dispatch('note', { text: 'hello' })
  return receiver
}

/** Each run finds due what the one before postponed. */
async function executeForADay(world: World): Promise<void> {
  for (let run = 0; run < 6; run++) {
    await world.execute()
    world.clock.forward(4 * 3_600_000)
  }
}
