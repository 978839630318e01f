import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { failuresToOpen } from '../../src/events/lanes/breaker.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { replayDead } from '../../src/events/index.ts'
import { openSystem } from '../../src/store/index.ts'
import { refuseStatements } from './refusing-system.ts'
import { leaveDead, type DeliveryRow, type World, onAnyDatabase } from './world.ts'
import { until } from '../support/until.ts'

const minute = 60_000
const day = 24 * 60 * minute

onAnyDatabase('the breaker of a subscription', (world) => {
  test('opens after ten consecutive failures, and postponed deliveries do not count as failed', async () => {
    const { receiver } = await prepare(world(), 40)
    receiver.choose = () => 500
    const { attempted, retrying } = await world().execute({ concurrency: 1 })
    // A few begin before the outcome of the tenth is written.
    assert.ok(attempted >= failuresToOpen && attempted <= failuresToOpen + 5, String(attempted))
    assert.equal(retrying, attempted)
    const rows = await world().deliveries()
    assert.equal(rows.filter((row) => row.failures === 1).length, attempted)
    assert.equal(rows.filter((row) => row.failures === 0 && row.lost === 0).length, 40 - attempted)
    assert.deepEqual(await world().execute(), { attempted: 0, delivered: 0, retrying: 0, dead: 0 })
  })

  test('is not opened by failures that successes interrupt', async () => {
    const { receiver } = await prepare(world(), 40)
    receiver.choose = (count) => (count % failuresToOpen === 0 ? 204 : 500)
    assert.deepEqual(await world().execute({ concurrency: 1 }), { attempted: 40, delivered: 4, retrying: 36, dead: 0 })
  })

  test('lets one delivery through when its time expires: a failure opens it for longer, a success closes it', async () => {
    const { receiver, id } = await prepare(world(), 40)
    receiver.choose = () => 500
    await world().execute({ concurrency: 1 })
    const opened: number[] = []
    for (const count of [1, 2, 3, 4, 5, 6]) {
      const { open_until: until } = await breaker(world(), id)
      opened.push((until! - world().clock.now()) / minute)
      world().clock.forward(until! - world().clock.now() + 1)
      assert.deepEqual(await world().execute(), { attempted: 1, delivered: 0, retrying: 1, dead: 0 }, `probe ${count}`)
      assert.equal((await breaker(world(), id)).failures, failuresToOpen + count)
    }
    for (const [index, expected] of [1, 2, 4, 8, 10, 10].entries()) {
      assert.ok(opened[index]! > expected * 0.75 && opened[index]! <= expected * 1.2, `${index}: ${opened[index]} min`)
    }

    receiver.choose = () => 204
    world().clock.forward(20 * minute)
    const { delivered, retrying, dead } = await world().execute()
    assert.deepEqual([delivered > 25, retrying, dead], [true, 0, 0])
    assert.deepEqual(await breaker(world(), id), { failures: 0, open_until: null })
    world().clock.forward(day)
    await world().execute()
    assert.ok((await world().deliveries()).every((row) => row.status === 'delivered'))
  })

  for (const [what, failures, answer] of [
    ['counts a failure', 0, 500],
    ['disables it', 0, 410],
    ['posts to one that failed', failuresToOpen, 204],
  ] as const) {
    test(`does not block a worker that ${what} while another process has locked it`, async (t) => {
      if (world().kind === 'sqlite') return t.skip('a writing transaction is alone there')
      const { receiver, id } = await prepare(world(), 1)
      receiver.choose = () => answer
      const { db } = world().system
      await db.updateTable('waypost_subscription').set({ failures }).execute()
      const isReleased = Promise.withResolvers<void>()
      const isLocked = Promise.withResolvers<void>()
      const other = db.transaction().execute(async (trx) => {
        await trx.selectFrom('waypost_subscription').select('id').where('id', '=', id).forUpdate().execute()
        isLocked.resolve()
        await isReleased.promise
      })
      await isLocked.promise
      const timer = setTimeout(isReleased.reject, 60_000, new Error('it waits for the lock'))
      try {
        const isDelivered = answer === 204 ? 1 : 0
        const expected = { attempted: 1, delivered: isDelivered, retrying: 1 - isDelivered }
        assert.partialDeepStrictEqual(await world().execute(), expected)
      } finally {
        clearTimeout(timer)
        isReleased.resolve()
      }
      await other
    })
  }

  test('lets one delivery through across all workers', async () => {
    const { receiver, id } = await prepare(world(), 40)
    receiver.choose = () => 500
    await world().execute({ concurrency: 1 })
    world().clock.forward(2 * minute)
    const held: ServerResponse[] = []
    receiver.choose = () => (response) => held.push(response)
    const before = receiver.received.length
    const other = await openSystem({ url: world().url, clock: world().clock })
    try {
      const stop = new AbortController()
      const statements = [0, 0]
      const runs = [other, world().system].map((system, index) => {
        const counted = refuseStatements(system, () => void (statements[index]! += 1))
        return world().execute({ system: counted, watch: true, signal: stop.signal })
      })
      await until('one is held', () => held.length !== 0)
      const first = [...statements]
      await until('both have looked for work several times more', () =>
        statements.every((count, index) => count >= first[index]! + 10),
      )
      assert.equal(receiver.received.length, before + 1)
      receiver.choose = () => 204
      held[0]!.writeHead(204).end()
      await until('the breaker closes', async () => (await breaker(world(), id)).failures <= 0)
      stop.abort()
      await Promise.all(runs)
    } finally {
      await other.close()
    }
  })

  test('that was half open when a worker was lost lets the next delivery through', async () => {
    const { receiver, id } = await prepare(world(), 20)
    await fanOutChunk(world().system, world().catalog)
    await world()
      .system.db.updateTable('waypost_subscription')
      .set({ failures: failuresToOpen, open_until: world().clock.now() })
      .where('id', '=', id)
      .execute()
    await leaveDead(world())
    let most = 0
    receiver.choose = (count) => (response) => {
      if (count === 1) most = receiver.open.now
      response.writeHead(204).end()
    }
    assert.deepEqual(await world().execute(), { attempted: 20, delivered: 20, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 20)
    assert.equal(most, 1)
    assert.ok((await world().deliveries()).every((row) => row.lost === 1))
  })

  test('does not delay other subscriptions, however many deliveries it postpones', async () => {
    const { receiver } = await prepare(world(), 600)
    receiver.choose = () => 500
    await world().execute({ concurrency: 1 })
    const well = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'other_note', well.url)
    for (let n = 0; n < 30; n++) await world().dispatch('other_note', n)
    assert.deepEqual(await world().execute({ concurrency: 4 }), { attempted: 30, delivered: 30, retrying: 0, dead: 0 })
    assert.equal(well.received.length, 30)
  })

  test('is one for each subscription of an endpoint', async () => {
    const { receiver } = await prepare(world(), 20)
    const other = await world().subscribe(await world().addUser(), 'other_note', receiver.url)
    receiver.choose = () => 500
    await world().execute({ concurrency: 1 })
    await world().dispatch('other_note', 1)
    receiver.choose = () => 204
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1, delivered: 1 })
    assert.deepEqual(await breaker(world(), other.id), { failures: 0, open_until: null })
  })

  test('that a wrong clock opened for hours does not stay open for longer than it could', async () => {
    const { id } = await prepare(world(), 3)
    await world()
      .system.db.updateTable('waypost_subscription')
      .set({ failures: failuresToOpen, open_until: world().clock.now() + 2 * 60 * minute })
      .where('id', '=', id)
      .execute()
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 3 })
  })

  test('open for three days ends deliveries that were due for that time, and they can be replayed', async () => {
    const { receiver, id } = await prepare(world(), 30)
    receiver.choose = () => 500
    await world().execute({ concurrency: 1 })
    world().clock.forward(3 * day - 60 * minute)
    await world().dispatch('note', 'young')
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 1, dead: 0 })
    world().clock.forward(70 * minute)
    const tried = await world().deliveries()
    const dueSince = (row: DeliveryRow) => (row.due_at === 0 ? row.created_at : row.due_at)
    const due = tried.filter((row) => row.status === 'pending' && dueSince(row) < world().clock.now() - 3 * day)
    assert.ok(due.length >= 10, `${due.length} are due for so long`)
    world().attempts.length = 0
    const summary = await world().execute()
    assert.partialDeepStrictEqual(summary, { attempted: 1, delivered: 0 })
    const dead = (await world().deliveries()).filter((row) => row.status === 'dead')
    assert.ok(dead.length >= due.length - 1, 'all but the one that was tried')
    assert.equal(summary.dead, dead.length)
    const ended = world().attempts.filter(({ result }) => result.failure === 'held back for 3 days')
    assert.equal(ended.length, dead.length)
    assert.equal(
      (await world().attemptRows()).filter((row) => row.outcome === 'held back for 3 days').length,
      dead.length,
    )
    const young = (await world().deliveries()).filter((row) => row.status === 'pending')
    assert.ok(young.length > 0, 'what is due for less waits on')

    receiver.choose = () => 204
    await replayDead(world().system, { since: 0, subscription: id, limit: 100 })
    assert.partialDeepStrictEqual(await world().execute(), { retrying: 0, dead: 0 })
    world().clock.forward(day)
    await world().execute()
    assert.ok((await world().deliveries()).every((row) => row.status === 'delivered'))
  })

  test('does not end deliveries that were due for days for other reasons', async () => {
    const { receiver, id } = await prepare(world(), 30)
    await fanOutChunk(world().system, world().catalog)
    world().clock.forward(4 * day) // paused, or no worker was there
    receiver.choose = () => 500
    await world().execute({ concurrency: 1 })
    world().clock.forward(2 * minute)
    assert.partialDeepStrictEqual(
      await world().execute(),
      { attempted: 1, dead: 0 },
      'the breaker is open, not for long',
    )
    world().clock.forward(3 * day)
    const summary = await world().execute()
    assert.ok(summary.dead >= 15, `now it failed for days: ${summary.dead} are given up`)
    assert.equal((await breaker(world(), id)).failures, failuresToOpen + 2)
  })

  test('found open by a worker that was stopped for days ends no delivery before an attempt', async () => {
    const { receiver } = await prepare(world(), 30)
    receiver.choose = () => 500
    await world().execute({ concurrency: 1 })
    world().clock.forward(10 * day)
    receiver.choose = () => 204
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 30, delivered: 30, dead: 0 })
  })

  test('does not change that four attempts are all there are', async () => {
    const { receiver } = await prepare(world(), 15)
    receiver.choose = () => 500
    for (let run = 0; run < 200; run++) {
      const summary = await world().execute()
      if (summary.attempted === 0 && !(await isPending(world()))) break
      world().clock.forward(11 * minute)
    }
    const rows = await world().deliveries()
    assert.ok(rows.every((row) => row.status === 'dead' && row.failures === 4 && row.lost === 0))
    assert.equal(receiver.received.length, 60)
  })
})

/** One subscription for which messages wait. */
async function prepare(world: World, messages: number) {
  const receiver = await world.openReceiver()
  const { id } = await world.subscribe(await world.addUser(), 'note', receiver.url)
  for (let n = 0; n < messages; n++) await world.dispatch('note', n)
  return { receiver, id }
}

async function breaker({ system }: World, id: string) {
  const query = system.db.selectFrom('waypost_subscription').select(['failures', 'open_until']).where('id', '=', id)
  return { ...(await query.executeTakeFirstOrThrow()) }
}

async function isPending(world: World): Promise<boolean> {
  return (await world.deliveries()).some((row) => row.status === 'pending')
}
