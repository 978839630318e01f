import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { allAttempts, replayDelivery } from '../../src/events/index.ts'
import type { Member } from '../../src/events/lanes/member.ts'
import { loadMessages, loadRecipients } from '../../src/events/lanes/contents.ts'
import { readDeliveries } from '../../src/events/lanes/read.ts'
import { laneCount } from '../../src/events/lanes/shares.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { Memory } from '../../src/events/worker/memory.ts'
import type { Loaded } from '../../src/events/worker/queues.ts'
import type { Completion, Verdict } from '../../src/events/worker/attempt.ts'
import { record, type Recorded, type Recording } from '../../src/events/worker/record.ts'
import type { System } from '../../src/store/index.ts'
import { makeMember, onBothDatabases, type World } from './world.ts'

const succeeded: Verdict = { outcome: 'delivered', delayMs: 0 }
const failed: Verdict = { outcome: 'retrying', delayMs: 5000 }
const died: Verdict = { outcome: 'dead', delayMs: 0 }

onBothDatabases('a batch of outcomes', (world) => {
  test('is recorded each with its own outcome, with the lease and the note', async () => {
    const { held, member } = await hold(world(), 3)
    const [delivered, retried, dead] = held
    const completions = [
      complete(delivered!, 200, succeeded),
      complete(retried!, 500, failed),
      complete(dead!, 500, died),
    ]
    const before = await workerRow(world(), member)
    world().clock.forward(4000)
    const recorded = await recordAll(world(), member, { completions, note: '[["dlv_next",0]]' })
    assert.ok(recorded)
    assert.deepEqual(recorded.completions, completions)
    const after = await workerRow(world(), member)
    assert.equal(after!.beat, before!.beat + 1)
    assert.ok(after!.lease_until >= before!.lease_until + 4000)
    assert.equal(after!.note, '[["dlv_next",0]]')
    const rows = new Map((await allDeliveries(world())).map((row) => [row.id, row]))
    assert.partialDeepStrictEqual(rows.get(delivered!.id), { status: 'delivered', failures: 0, turn: 1 })
    assert.partialDeepStrictEqual(rows.get(dead!.id), { status: 'dead', failures: 1, turn: 1 })
    const waiting = rows.get(retried!.id)!
    assert.partialDeepStrictEqual(waiting, { status: 'pending', failures: 1, turn: 1, finished_at: null })
    assert.equal(waiting.due_at - waiting.scheduled_at, 5000)
    assert.notEqual(rows.get(delivered!.id)!.finished_at, null)
    const written = (await world().attemptRows()).map(({ outcome, status }) => `${outcome}, ${status}`)
    assert.deepEqual(written.toSorted(), ['delivered, 200', 'status 500, 500', 'status 500, 500'])
  })

  test('is recorded with its answer and failure, whatever characters they contain', async () => {
    const texts = [
      '',
      'null',
      '{}',
      '"',
      '\\',
      '\\n',
      '\n',
      '\t"\\\u0007\\u0007,{"a":1}',
      'ä→😀\u2028\u007f',
      '\ud83d',
      '\0',
    ]
    const { held, member } = await hold(world(), 2 * texts.length)
    const completions = held.map((delivery, index): Completion => {
      const text = texts[index >> 1]!
      const result = { status: 200, latencyMs: 1, answer: text, headers: [['x-text', text] as const] }
      if (index % 2 === 0) return { delivery, verdict: succeeded, startedAt: 1000, result }
      return { delivery, verdict: died, startedAt: 1000, result: { ...result, failure: text } }
    })
    assert.equal((await recordAll(world(), member, { completions }))?.completions.length, held.length)
    const stored = texts.map((text) => text.replaceAll('\0', '').toWellFormed())
    const rows = await world().system.db.selectFrom(allAttempts.as('attempt')).selectAll().execute()
    const isFailure = (row: (typeof rows)[number]) => row.outcome !== 'delivered'
    const [failed, delivered] = [rows.filter(isFailure), rows.filter((row) => !isFailure(row))]
    assert.deepEqual(new Set(delivered.map(({ answer }) => answer)), new Set(stored))
    assert.deepEqual(new Set(failed.map(({ outcome }) => outcome)), new Set(stored))
    const headers = failed.map((row) => JSON.parse(row.headers!) as string[][])
    assert.deepEqual(new Set(headers.map(([header]) => header![1])), new Set(texts))
  })

  test('changes nothing if it is recorded a second time, as after a lost acknowledgement', async () => {
    const { held, member } = await hold(world(), 3)
    const completions = [complete(held[0]!, 200, succeeded), complete(held[1]!, 500, failed)]
    await recordAll(world(), member, { completions })
    const state = await stateOf(world())
    const again = await recordAll(world(), member, { completions })
    assert.deepEqual(again?.completions, [])
    assert.deepEqual(await stateOf(world()), state)
  })

  test('of a worker whose row is gone changes nothing', async () => {
    const { held, member } = await hold(world(), 2)
    const state = await stateOf(world())
    await world().system.db.deleteFrom('waypost_worker').execute()
    const completions = [complete(held[0]!, 200, succeeded), complete(held[1]!, 500, failed)]
    const breakers = [{ subscription: held[1]!.subscription, revision: 1, failuresBefore: 0, breaker: open }]
    const recorded = await recordAll(world(), member, { completions, breakers })
    assert.equal(recorded, undefined)
    assert.deepEqual(await stateOf(world()), state)
    assert.deepEqual(await breakersOf(world()), [0, 0])
  })

  test('waits for another worker that is ending this one, and then changes nothing', async () => {
    const { held, member } = await hold(world(), 1)
    const isDeleted = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const ending = world().system.transaction(async (trx) => {
      await trx.deleteFrom('waypost_worker').execute()
      await trx.updateTable('waypost_delivery').set({ lost: 1, turn: 1 }).execute()
      isDeleted.resolve()
      await mayCommit.promise
    })
    await isDeleted.promise
    const recording = recordAll(world(), member, { completions: [complete(held[0]!, 200, succeeded)] })
    const first = await Promise.race([recording.then(() => 'recorded'), pause(300).then(() => 'waits')])
    mayCommit.resolve()
    await ending
    assert.equal(first, 'waits')
    assert.equal(await recording, undefined)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ status: 'pending', lost: 1, turn: 1 }])
    assert.deepEqual(await world().attemptRows(), [])
  })

  test('excludes deliveries with another turn, which another worker may be posting', async () => {
    const { held, member } = await hold(world(), 2)
    await world().system.db.updateTable('waypost_delivery').set({ turn: 1 }).where('id', '=', held[0]!.id).execute()
    const completions = held.map((one) => complete(one, 200, succeeded))
    assert.deepEqual((await recordAll(world(), member, { completions }))?.completions, [completions[1]])
    const rows = new Map((await world().deliveries()).map((row) => [row.id, row]))
    assert.partialDeepStrictEqual(rows.get(held[0]!.id), { status: 'pending', turn: 1 })
    assert.partialDeepStrictEqual(rows.get(held[1]!.id), { status: 'delivered', turn: 1 })
    assert.equal((await world().attemptRows()).length, 1)
  })

  test('makes a delivery that was cancelled meanwhile delivered if its POST succeeded, and otherwise leaves it', async () => {
    const { held, member } = await hold(world(), 3)
    const cancelled = { status: 'cancelled' as const, finished_at: 7 }
    await world().system.db.updateTable('waypost_delivery').set(cancelled).execute()
    const verdicts = [succeeded, failed, died]
    const completions = held.map((one, index) => complete(one, index === 0 ? 200 : 500, verdicts[index]!))
    await recordAll(world(), member, { completions })
    const rows = new Map((await allDeliveries(world())).map((row) => [row.id, row]))
    assert.partialDeepStrictEqual(rows.get(held[0]!.id), { status: 'delivered', turn: 1 })
    for (const one of held.slice(1)) assert.partialDeepStrictEqual(rows.get(one.id), { ...cancelled, turn: 1 })
    assert.equal((await world().attemptRows()).length, 3, 'each POST is in the log')
  })

  test('records a delivery that is being cancelled at the same moment', async () => {
    const { held, member } = await hold(world(), 2)
    const isCancelled = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const cancelling = world().system.transaction(async (trx) => {
      await trx.updateTable('waypost_delivery').set({ status: 'cancelled', finished_at: 7 }).execute()
      isCancelled.resolve()
      await mayCommit.promise
    })
    await isCancelled.promise
    const completions = [complete(held[0]!, 200, succeeded), complete(held[1]!, 500, failed)]
    const recording = recordAll(world(), member, { completions })
    await pause(300)
    mayCommit.resolve()
    await cancelling
    assert.deepEqual((await recording)?.completions, completions)
    const rows = new Map((await world().deliveries()).map((row) => [row.id, row]))
    assert.partialDeepStrictEqual(rows.get(held[0]!.id), { status: 'delivered', turn: 1 })
    assert.partialDeepStrictEqual(rows.get(held[1]!.id), { status: 'cancelled', turn: 1 })
    assert.equal((await world().attemptRows()).length, 2)
  })

  test('changes nothing of a delivery that was replayed meanwhile', async () => {
    for (const [status, verdict] of [
      [200, succeeded],
      [500, died],
    ] as const) {
      const { held, member } = await hold(world(), 1)
      const [one] = held
      await world().system.db.updateTable('waypost_delivery').set({ status: 'cancelled', finished_at: 7 }).execute()
      await replayDelivery(world().system, { delivery: one!.id })
      const state = await stateOf(world())
      assert.deepEqual(
        (await recordAll(world(), member, { completions: [complete(one!, status, verdict)] }))?.completions,
        [],
      )
      assert.deepEqual(await stateOf(world()), state)
      await member.leave()
      await world().system.db.deleteFrom('waypost_delivery').execute()
    }
  })

  test('stores breakers of subscriptions that are as they were read', async () => {
    const { held, member } = await hold(world(), 3)
    const { db } = world().system
    const ids = held.map((one) => one.subscription)
    await db.updateTable('waypost_subscription').set({ revision: 2 }).where('id', '=', ids[1]!).execute()
    await db.updateTable('waypost_subscription').set({ failures: 3 }).where('id', '=', ids[2]!).execute()
    const breakers = ids.map((subscription) => ({ subscription, revision: 1, failuresBefore: 0, breaker: open }))
    await recordAll(world(), member, { breakers })
    const rows = await db.selectFrom('waypost_subscription').selectAll().execute()
    const of = (id: string) => rows.find((row) => row.id === id)!
    const { failures, openUntil, failingSince } = open
    assert.partialDeepStrictEqual(of(ids[0]!), { failures, open_until: openUntil, failing_since: failingSince })
    assert.partialDeepStrictEqual(of(ids[1]!), { failures: 0, open_until: null })
    assert.partialDeepStrictEqual(of(ids[2]!), { failures: 3, open_until: null })
  })

  test('is recorded even if texts contain characters that PostgreSQL cannot store', async () => {
    const { held, member } = await hold(world(), 1)
    const one = complete(held[0]!, 200, died)
    const strange = { ...one, result: { latencyMs: 1, failure: 'a\0b \ud800', answer: 'c\0d \udc00 "é"' } }
    assert.equal((await recordAll(world(), member, { completions: [strange] }))?.completions.length, 1)
    assert.partialDeepStrictEqual(await world().attemptRows(), [{ outcome: 'ab �', answer: 'cd � "é"' }])
  })

  test('takes one statement on PostgreSQL, and five on SQLite, for any number', async () => {
    const { held, member } = await hold(world(), 40)
    const completions = held.map((one) => complete(one, 200, succeeded))
    const statements: string[] = []
    const { system } = world()
    const db = system.db.withPlugin({
      transformQuery: ({ node }) => (statements.push(node.kind), node),
      transformResult: async ({ result }) => result,
    })
    const transaction: typeof system.transaction = (work) => db.transaction().execute(work)
    const counted = { ...world(), system: { ...system, db, transaction } }
    assert.equal((await recordAll(counted, member, { completions }))?.completions.length, 40)
    assert.equal(statements.length, world().kind === 'sqlite' ? 5 : 1)
  })
})

const open = { failures: 10, openUntil: 123_456, failingSince: 123 }

/** Deliveries to subscriptions of their own, as a worker holds them while it posts them. */
async function hold(world: World, count: number): Promise<{ held: readonly Loaded[]; member: Member }> {
  const endpoints = Array.from({ length: count }, (_, index) => `http://127.0.0.1:1/${index}`)
  await world.addSubscriptions(await world.addUser(), 'note', endpoints)
  await world.dispatch('note', 1)
  while (await fanOutChunk(world.system, world.catalog));
  const member = makeMember(world)
  await member.rebalance()
  const memory = new Memory(world.clock)
  memory.queues.limits = { total: 2 * count, perEndpoint: 1 }
  const terms = { catalog: world.catalog, settings: world.settings }
  const positions = Array.from({ length: laneCount }, (_, lane) => ({
    lane,
    after: '',
    from: '',
    later: [0, ''] as const,
  }))
  const limits = { size: 100, maxSubscriptions: 100, maxLater: 100 }
  const { deliveries } = await readDeliveries(world.system, {
    ...terms,
    ...limits,
    positions,
    loaded: [],
    clock: world.clock,
  })
  const ids = deliveries.map((one) => one.subscription)
  const { recipients, now } = await loadRecipients(world.system, ids, terms)
  memory.setTime(now, world.clock.monotonic())
  memory.admit(deliveries, {
    recipients: new Map(recipients.map((one) => [one.subscriptionId, one])),
    messages: await loadMessages(world.system, [...new Set(deliveries.map((one) => one.message))], 1000),
  })
  memory.note.confirm(memory.note.choose(new Set()))
  const held = Array.from({ length: count }, () => memory.queues.startNext()!)
  assert.ok(held.every((one) => one !== undefined))
  return { held, member }
}

function recordAll(
  { system }: Pick<World, 'system'>,
  member: Member,
  what: Partial<Pick<Recording, 'completions' | 'breakers' | 'note'>>,
): Promise<Recorded | undefined> {
  return record(system, { worker: member.id!, note: '[]', completions: [], breakers: [], shard: 0, ...what })
}

function complete(delivery: Loaded, status: number, verdict: Verdict): Completion {
  return { delivery, verdict, startedAt: 1000, result: { status, latencyMs: 1 } }
}

function allDeliveries({ system }: World) {
  return system.db.selectFrom('waypost_delivery').selectAll().orderBy('id').execute()
}

/** Everything that the recording of outcomes changes. */
async function stateOf(world: World) {
  const totals = await world.system.db
    .selectFrom('waypost_attempt_total')
    .selectAll()
    .orderBy('outcome')
    .orderBy('bucket')
    .execute()
  return { deliveries: await allDeliveries(world), attempts: await world.attemptRows(), totals }
}

function workerRow({ system }: { system: System }, member: Member) {
  return system.db.selectFrom('waypost_worker').selectAll().where('id', '=', member.id!).executeTakeFirst()
}

async function breakersOf({ system }: World): Promise<readonly number[]> {
  return (await system.db.selectFrom('waypost_subscription').select('failures').execute()).map((row) => row.failures)
}
