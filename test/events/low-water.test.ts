import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { sortedIdPrefix } from '../../src/kit/index.ts'
import { readDeliveries } from '../../src/events/lanes/read.ts'
import { LowWater } from '../../src/events/worker/low-water.ts'
import { explainQuery, pagesOf, recordQueries } from '../support/recorded-queries.ts'
import { openWorld } from './world.ts'

const minute = 60_000
const now = 1_800_000_000_000
const idAt = (ms: number) => `${sortedIdPrefix('msg_', ms)}ABCDEFGHJK`

test('a lane is read without a mark, until a round has visited all of its subscriptions', () => {
  const marks = new LowWater()
  assert.equal(marks.begin(7, { now, monotonic: 0 }), '')
  const [older, oldest] = [idAt(now - 20 * minute), idAt(now - 30 * minute)]
  marks.found(7, { oldest: older, isSlow: true })
  marks.found(7, { oldest: oldest, isSlow: true })
  marks.found(7, { oldest: undefined, isSlow: true })
  marks.end(7, 0)
  const mark = marks.begin(7, { now, monotonic: 1 })
  assert.ok(mark > idAt(now - 30 * minute - 1) && mark < oldest, 'the oldest message is read')
  assert.equal(marks.begin(8, { now, monotonic: 1 }), '', 'another lane')
})

test('a mark is a minute old at least, because of late transactions and clocks', () => {
  const marks = new LowWater()
  marks.begin(7, { now, monotonic: 0 })
  marks.found(7, { oldest: idAt(now - 1000), isSlow: true })
  marks.end(7, 0)
  const mark = marks.begin(7, { now, monotonic: 1 })
  assert.ok(mark < idAt(now - minute) && mark > idAt(now - minute - 1000))
})

test('a mark is used for ten seconds, and for no longer because of readings with it', () => {
  const marks = new LowWater()
  marks.begin(7, { now, monotonic: 0 })
  marks.found(7, { oldest: undefined, isSlow: true })
  marks.end(7, 0)
  for (const monotonic of [1, 5000, 9999]) {
    assert.notEqual(marks.begin(7, { now, monotonic }), '')
    marks.end(7, monotonic)
  }
  assert.equal(marks.begin(7, { now, monotonic: 10_000 }), '')
  marks.found(7, { oldest: undefined, isSlow: true })
  marks.end(7, 10_000)
  assert.notEqual(marks.begin(7, { now, monotonic: 10_001 }), '')
  marks.clear()
  assert.equal(marks.begin(7, { now, monotonic: 10_002 }), '')
})

test('a round that takes longer than its mark may be used, or whose mark is forgotten, reads all from there on', () => {
  const marks = new LowWater()
  const beginMarked = (monotonic: number) => {
    marks.begin(7, { now, monotonic: monotonic - 1 })
    marks.found(7, { oldest: undefined, isSlow: true })
    assert.equal(marks.resume(7, monotonic), '', 'of a round without a mark')
    marks.end(7, monotonic)
    return marks.begin(7, { now, monotonic: monotonic + 1 })
  }
  const mark = beginMarked(0)
  assert.notEqual(mark, '')
  assert.deepEqual([marks.resume(7, 9999), marks.resume(7, 10_000)], [mark, ''])
  assert.notEqual(beginMarked(20_000), '')
  marks.clear()
  assert.equal(marks.resume(7, 20_002), '')
})

test('a lane has no mark if none of its readings took long', () => {
  const marks = new LowWater()
  marks.begin(7, { now, monotonic: 0 })
  marks.found(7, { oldest: idAt(now - minute), isSlow: false })
  marks.end(7, 0)
  assert.equal(marks.begin(7, { now, monotonic: 1 }), '')
})

test('with a mark, PostgreSQL does not look up the rows of what was delivered under an old snapshot', async () => {
  const { world, close } = await openWorld('postgresql')
  const { system, queries } = recordQueries(world.system)
  const { db } = world.system
  const add = (message: string, size: number) =>
    sql`insert into waypost_delivery
    (id, message_id, subscription_id, lane, status, due_at, failures, lost, created_at)
    select ${message} || i, ${message} || i, 'sub_1', 7, 'pending', 0, 0, 0, 0
    from generate_series(1, ${sql.lit(size)}) as n(i)`.execute(db)
  const pages: number[] = []
  try {
    await db.connection().execute(async (snapshot) => {
      await sql`begin isolation level repeatable read`.execute(snapshot)
      await sql`select 1 from waypost_delivery`.execute(snapshot)
      await add(sortedIdPrefix('msg_', now - 2 * minute), 5000)
      await sql`update waypost_delivery set status = 'delivered'`.execute(db)
      await add(sortedIdPrefix('msg_', now), 1)
      for (const from of ['', sortedIdPrefix('msg_', now - minute)]) {
        const positions = [{ lane: 7, after: '', from, later: [0, ''] as const }]
        const clock = { monotonic: () => 0 } // so that no other query measures the way to the database
        const terms = { catalog: world.catalog, settings: world.settings, loaded: [], clock }
        const limits = { size: 50, maxSubscriptions: 10, maxLater: 10 }
        const { deliveries } = await readDeliveries(system, { ...terms, ...limits, positions })
        assert.equal(deliveries.length, 1)
        pages.push(pagesOf(await explainQuery(world.system, queries.at(-2)!)))
      }
      await sql`rollback`.execute(snapshot)
    })
  } finally {
    await system.db.destroy()
    await close()
  }
  const [all, marked] = pages
  assert.ok(all! > 50 * marked!, `${all} and ${marked} pages`)
})
