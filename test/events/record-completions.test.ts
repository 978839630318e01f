import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimDeliveries, type ClaimedDelivery } from '../../src/events/queue/claim.ts'
import { recordCompletions } from '../../src/events/attempt/record-completions.ts'
import type { Completion } from '../../src/events/attempt/outcome.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { findWork, makeScanState } from '../../src/events/queue/find-work.ts'
import { onEachDatabase, type World } from './world.ts'

onEachDatabase('a batch of attempts', (world) => {
  test('is recorded each with its own outcome', async () => {
    const [delivered, retried, dead] = await claimEach(world(), 3)
    const completions = [
      completion(delivered!, 200, { outcome: 'delivered', delayMs: 0 }),
      completion(retried!, 500, { outcome: 'retrying', delayMs: 5000 }),
      completion(dead!, 500, { outcome: 'dead', delayMs: 0 }),
    ]
    assert.deepEqual(await recordCompletions(world().system, { completions, shard: 0 }), completions)
    const rows = new Map((await allDeliveries(world())).map((row) => [row.id, row]))
    assert.partialDeepStrictEqual(rows.get(delivered!.id), { status: 'delivered', failures: 0, claim_id: null })
    assert.partialDeepStrictEqual(rows.get(dead!.id), { status: 'dead', failures: 1, claim_id: null })
    const waiting = rows.get(retried!.id)!
    assert.partialDeepStrictEqual(waiting, { status: 'pending', failures: 1, claim_id: null, finished_at: null })
    assert.equal(waiting.due_at - waiting.scheduled_at, 5000)
    assert.notEqual(rows.get(delivered!.id)!.finished_at, null)
    const written = (await world().attemptRows()).map(({ outcome, status }) => `${outcome}, ${status}`)
    assert.deepEqual(written.toSorted(), ['delivered, 200', 'status 500, 500', 'status 500, 500'])
  })

  test('excludes deliveries whose claim was taken over, even by the same batch', async () => {
    const [stale] = await claimEach(world(), 1)
    world().clock.forward(stale!.leaseMs)
    const [current] = await claimAll(world())
    assert.equal(current!.id, stale!.id)
    const failed = completion(stale!, 500, { outcome: 'retrying', delayMs: 1 })
    const succeeded = completion(current!, 200, { outcome: 'delivered', delayMs: 0 })
    assert.deepEqual(await recordCompletions(world().system, { completions: [failed, succeeded], shard: 0 }), [
      succeeded,
    ])
    assert.deepEqual(
      await recordCompletions(world().system, { completions: [failed, succeeded], shard: 0 }),
      [],
      'it is over',
    )
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'delivered', failures: 0 }])
    assert.equal((await world().attemptRows()).length, 1)
  })

  test('is recorded even if texts contain characters that PostgreSQL cannot store', async () => {
    const [delivery] = await claimEach(world(), 1)
    const one = completion(delivery!, 200, { outcome: 'dead', delayMs: 0 })
    const strange = { ...one, result: { latencyMs: 1, failure: 'a\0b \ud800', answer: 'c\0d \udc00 "é"' } }
    assert.equal((await recordCompletions(world().system, { completions: [strange], shard: 0 })).length, 1)
    assert.partialDeepStrictEqual(await world().attemptRows(), [{ outcome: 'ab �', answer: 'cd � "é"' }])
  })

  test('takes one statement on PostgreSQL and three on SQLite, for any number', async () => {
    const deliveries = await claimEach(world(), 40)
    const completions = deliveries.map((one) => completion(one, 200, { outcome: 'delivered', delayMs: 0 }))
    const statements: string[] = []
    const { system } = world()
    const db = system.db.withPlugin({
      transformQuery: ({ node }) => (statements.push(node.kind), node),
      transformResult: async ({ result }) => result,
    })
    const transaction: typeof system.transaction = (work) => db.transaction().execute(work)
    assert.equal((await recordCompletions({ ...system, db, transaction }, { completions, shard: 0 })).length, 40)
    assert.equal(statements.length, world().kind === 'sqlite' ? 3 : 1)
  })
})

/** Deliveries to subscriptions of their own, claimed. */
async function claimEach(world: World, count: number): Promise<readonly ClaimedDelivery[]> {
  const endpoints = Array.from({ length: count }, (_, index) => `http://127.0.0.1:1/${index}`)
  await world.addSubscriptions(await world.addUser(), 'note', endpoints)
  await world.dispatch('note', 1)
  while (await fanOutChunk(world.system, world.catalog));
  return claimAll(world)
}

async function claimAll({ system, catalog, settings, clock }: World): Promise<readonly ClaimedDelivery[]> {
  const capacity = { catalog, settings, free: 100, inFlight: new Map<string, number>() }
  const { due } = await findWork(system, capacity, makeScanState())
  return (await claimDeliveries(system, { due, capacity, clock })).deliveries
}

function completion(delivery: ClaimedDelivery, status: number, verdict: Completion['verdict']): Completion {
  return { delivery, verdict, startedAt: delivery.claimedAt, result: { status, latencyMs: 1 } }
}

function allDeliveries({ system }: World) {
  return system.db.selectFrom('waypost_delivery').selectAll().execute()
}
