import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeDispatcher, replayRun, retryRun, cancelAllPending, cancelRuns } from '../../src/events/index.ts'
import { correctTimes } from '../../src/events/lanes/correct-times.ts'
import { allLanes } from '../../src/events/lanes/shares.ts'
import { claimRuns, giveBackLostRuns, type WantedRuns } from '../../src/events/run/claim-runs.ts'
import { recordRuns, recordStart } from '../../src/events/run/record-runs.ts'
import { runDue } from '../../src/events/run/run-due.ts'
import type { ListenerTermsOfRuns, RunResult } from '../../src/events/run/run-executor.ts'
import { makeMember, onBothDatabases, type World } from './world.ts'

const hour = 3_600_000

onBothDatabases('runs of listeners', (world) => {
  test('are stored with their message, one for each listener', async () => {
    listen(world(), { name: 'one' }, { name: 'two' })
    await world().dispatch('note', 1)
    await world().dispatch('other_note', 2)
    const rows = await runs(world())
    assert.deepEqual(rows.map(({ listener, status }) => [listener, status].join(' ')).toSorted(), [
      'one pending',
      'two pending',
    ])
    const dispatcher = makeDispatcher(world().system, world().catalog)
    const rolledBack = world().system.transaction(async (trx) => {
      await dispatcher.store([dispatcher.prepare({ event: 'note', data: 3 })], trx)
      throw new Error('no')
    })
    await assert.rejects(rolledBack, /^Error: no$/)
    assert.equal((await runs(world())).length, 2)
  })

  test('are claimed by one worker each, as many as it has room for, the oldest first', async () => {
    listen(world(), { name: 'one' })
    for (let n = 0; n < 10; n++) await world().dispatch('note', n)
    const [a, b] = [await join(world()), await join(world())]
    const [first, second] = await Promise.all([claim(world(), a, { room: 3 }), claim(world(), b, { room: 3 })])
    assert.equal(new Set([...first, ...second].map(({ id }) => id)).size, 6)
    const rest = await claim(world(), a, { room: 100 })
    assert.deepEqual(
      rest.map(({ data }) => data),
      ['6', '7', '8', '9'],
    )
    assert.deepEqual(await claim(world(), 'wrk_unknown', { room: 100 }), [])
  })

  test('with "exclusive" never run with the same value at the same time', async () => {
    listen(world(), { name: 'one', exclusive: 'data.to.id' })
    for (const id of [1, 1, 1, 2, 2, { deep: [3] }]) await world().dispatch('note', { to: { id } })
    await world().dispatch('note', 'without')
    const worker = await join(world())
    const wanted = { room: 10, isExclusive: true }
    const first = await claim(world(), worker, wanted)
    assert.equal(first.length, 4)
    assert.equal(new Set(first.map(({ data }) => data)).size, 4)
    assert.deepEqual(await claim(world(), worker, wanted), [])
    const one = first.find(({ data }) => data === '{"to":{"id":1}}')!
    await recordRuns(world().system, [{ run: one, verdict: 'done', latencyMs: 1, log: null }])
    const next = await Promise.all([claim(world(), worker, wanted), claim(world(), worker, wanted)])
    assert.deepEqual(
      next.flat().map(({ data }) => data),
      [one.data],
    )
  })

  test('with "exclusive: true" run one at a time, of all workers', async () => {
    listen(world(), { name: 'one', exclusive: true })
    for (let n = 0; n < 3; n++) await world().dispatch('note', n)
    const workers = [await join(world()), await join(world())]
    const claimed = await Promise.all(workers.map((id) => claim(world(), id, { room: 8, isExclusive: true })))
    assert.equal(claimed.flat().length, 1)
  })

  test('with "starts" begin no more often than in a window, of all workers', async () => {
    listen(world(), { name: 'one' })
    for (let n = 0; n < 10; n++) await world().dispatch('note', n)
    const workers = [await join(world()), await join(world())]
    const wanted = { room: 8, starts: { limit: 4, windowMs: 60_000 } }
    const claimed = await Promise.all(workers.map((id) => claim(world(), id, wanted)))
    assert.equal(claimed.flat().length, 4)
    assert.deepEqual(await claim(world(), workers[0]!, wanted), [])
    world().clock.forward(60_001)
    assert.equal((await claim(world(), workers[1]!, wanted)).length, 4)
    world().clock.forward(-hour)
    await correctTimes(world().system, allLanes)
    assert.equal((await claim(world(), workers[1]!, wanted)).length, 2, 'a clock that is set back ends the window')
  })

  test('of a worker without a row are repeated, and its late outcomes change nothing', async () => {
    listen(world(), { name: 'one' })
    await world().dispatch('note', 1)
    const [dead, other] = [await join(world()), await join(world())]
    const [lost] = await claim(world(), dead, { room: 1 })
    await giveBackLostRuns(world().system)
    assert.equal((await runs(world()))[0]!.status, 'running')
    await world().system.db.deleteFrom('waypost_worker').where('id', '=', dead).execute()
    await giveBackLostRuns(world().system)
    const [again] = await claim(world(), other, { room: 1 })
    assert.deepEqual([again!.id, again!.lost], [lost!.id, 1])
    assert.equal((await recordRuns(world().system, [{ run: lost!, verdict: 'dead', latencyMs: 1, log: null }])).size, 0)
    assert.equal(
      (await recordRuns(world().system, [{ run: again!, verdict: 'done', latencyMs: 1, log: null }])).size,
      1,
    )
    assert.equal((await runs(world()))[0]!.status, 'done')
  })

  test('that were lost become dead only if their workers end while they run, not while they wait for each other', async () => {
    listen(world(), { name: 'one' })
    await world().dispatch('note', 'guilty')
    await world().dispatch('note', 'waits')
    const losses = async (begins: boolean) => {
      const worker = await join(world())
      const [guilty] = await claim(world(), worker, { room: 2 })
      if (begins) assert.equal(await recordStart(world().system, guilty!), true)
      await world().system.db.deleteFrom('waypost_worker').where('id', '=', worker).execute()
      await giveBackLostRuns(world().system)
      assert.equal(await recordStart(world().system, guilty!), false)
      return (await runs(world())).map(({ lost }) => lost)
    }
    assert.deepEqual(await losses(false), [1, 1])
    assert.deepEqual(await losses(false), [1, 1])
    for (const lost of [2, 3, 4, 5]) assert.deepEqual(await losses(true), [lost, 1])
    const executed: string[] = []
    await run(world(), async (data) => {
      executed.push(data)
      return { kind: 'done' }
    })
    assert.deepEqual(executed, ['"waits"'])
    assert.deepEqual(
      (await runs(world())).map(({ status }) => status),
      ['dead', 'done'],
    )
  })

  test('that fail are repeated after each of their delays, and put off at most 100 times', async () => {
    listen(world(), { name: 'one' })
    await world().dispatch('note', 1)
    await world().dispatch('note', 2)
    let postponed = 0
    const execute = async (data: string): Promise<RunResult> => {
      if (data === '1') return { kind: 'failed', reason: 'no' }
      postponed++
      return { kind: 'postponed', until: 0 }
    }
    await run(world(), execute, { retries: [hour, 2 * hour] })
    world().clock.forward(1.2 * hour)
    await run(world(), execute, { retries: [hour, 2 * hour] })
    world().clock.forward(2.4 * hour)
    await run(world(), execute, { retries: [hour, 2 * hour] })
    const [failed, delayed] = await runs(world())
    assert.deepEqual([failed!.status, failed!.failures, failed!.outcome], ['dead', 3, 'no'])
    assert.deepEqual([delayed!.status, delayed!.postponed], ['dead', 100])
    assert.equal(postponed, 103)
  })

  test('whose process ended five times are dead', async () => {
    listen(world(), { name: 'one' })
    await world().dispatch('note', 1)
    let count = 0
    await run(world(), async () => {
      count++
      return { kind: 'lost', reason: 'killed' }
    })
    const [row] = await runs(world())
    assert.deepEqual([count, row!.status, row!.outcome], [5, 'dead', 'killed'])
  })

  test('are stored for a delayed event when it is due', async () => {
    listen(world(), { name: 'one', exclusive: 'data.id' })
    const dispatcher = makeDispatcher(world().system, world().catalog)
    await dispatcher.store([dispatcher.prepare({ event: 'note', data: { id: 7 }, delay: '1h' })])
    assert.deepEqual(await runs(world()), [])
    world().clock.forward(hour)
    const data: string[] = []
    await run(
      world(),
      async (text) => {
        data.push(text)
        return { kind: 'done' }
      },
      { isExclusive: true },
    )
    assert.deepEqual(data, ['{"id":7}'])
  })

  test('are stored for a delayed event whose event was removed, once a release declares it again', async () => {
    listen(world(), { name: 'one' })
    const { catalog } = world()
    const dispatcher = makeDispatcher(world().system, catalog)
    await dispatcher.store([dispatcher.prepare({ event: 'note', data: 7, delay: '1h' })])
    world().clock.forward(hour)
    world().catalog = { other_note: {} }
    await world().execute()
    assert.deepEqual(await runs(world()), [])
    world().catalog = catalog
    await run(world(), async () => ({ kind: 'done' }))
    assert.deepEqual(
      (await runs(world())).map(({ status }) => status),
      ['done'],
    )
  })

  test('can be replayed, made due and cancelled by administrators', async () => {
    const { system } = world()
    listen(world(), { name: 'one' })
    await world().dispatch('note', 1)
    const [{ id } = { id: '' }] = await runs(world())
    await assert.rejects(replayRun(system, id), { code: 'WP_EVENTS_RUN_PENDING' })
    await run(world(), async () => ({ kind: 'failed', reason: 'no' }), { retries: [hour] })
    await retryRun(system, id)
    await run(world(), async () => ({ kind: 'failed', reason: 'no' }), { retries: [hour] })
    assert.equal((await runs(world()))[0]!.status, 'dead')
    await assert.rejects(retryRun(system, id), { code: 'WP_EVENTS_RUN_FINISHED' })
    await replayRun(system, id)
    assert.equal(await cancelRuns(system, 'other'), 0)
    assert.equal(await cancelRuns(system, 'one'), 1)
    assert.equal((await runs(world()))[0]!.status, 'cancelled')
    await replayRun(system, id)
    await run(world(), async () => ({ kind: 'done' }))
    assert.equal((await runs(world()))[0]!.status, 'done')
    await assert.rejects(replayRun(system, 'run_x'), { code: 'WP_EVENTS_RUN_UNKNOWN' })
  })

  test('wait while deliveries are held, and are cancelled with them', async () => {
    const { system } = world()
    listen(world(), { name: 'one' })
    await world().dispatch('note', 1)
    await sql`insert into waypost_system (name, value) values ('deliveries_held', '1')`.execute(system.db)
    try {
      assert.deepEqual(await claim(world(), await join(world()), { room: 1 }), [])
      await cancelAllPending(system)
    } finally {
      await system.db.deleteFrom('waypost_system').where('name', '=', 'deliveries_held').execute()
    }
    assert.equal((await runs(world()))[0]!.status, 'cancelled')
  })

  test('are not made for consumers: a private event has no subscriptions', async () => {
    world().catalog = { ...world().catalog, note: { private: true } }
    const user = await world().addUser(['consumer'])
    await assert.rejects(world().subscribe(user, 'note', 'http://127.0.0.1:9/'), { code: 'WP_EVENTS_SCOPE' })
  })
})

function listen(world: World, ...listeners: readonly { name: string; exclusive?: true | string }[]): void {
  world.catalog = { ...world.catalog, note: { listeners } }
}

/** A worker with a row. */
async function join(world: World): Promise<string> {
  const member = makeMember(world)
  await member.rebalance()
  return member.id!
}

function claim({ system }: World, worker: string, wanted: Partial<WantedRuns>) {
  return claimRuns(system, worker, [{ listener: 'one', room: 1, isExclusive: false, ...wanted }])
}

async function run(
  world: World,
  execute: (data: string) => Promise<RunResult>,
  terms: Partial<ListenerTermsOfRuns> = {},
): Promise<void> {
  const base = { name: 'one', timeoutMs: 1000, retries: undefined, concurrency: 8, starts: undefined, once: false }
  const listed = [{ ...base, isExclusive: false, ...terms }]
  await runDue({
    system: world.system,
    clock: world.clock,
    catalog: () => world.catalog,
    settings: () => world.settings,
    listeners: () => listed,
    executor: { execute: ({ data }) => execute(data!), abort: () => undefined, close: async () => undefined },
  })
}

function runs({ system }: World) {
  return system.db.selectFrom('waypost_run').selectAll().orderBy('id').execute()
}
