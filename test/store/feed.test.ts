import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, mock, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { openSystem, recordChanges, startFeed, type Change, type System } from '../../src/store/index.ts'
import { copySystem } from '../support/migrated.ts'
import { openLine, type Line } from '../support/line.ts'
import { until } from '../support/until.ts'
import { systemClock } from '../../src/kit/index.ts'
import { useFedSystem, type News } from './fed-system.ts'

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`the change feed on ${kind}`, () => {
    const fed = useFedSystem(kind)
    const { open, makeFrozenClock, follow, record, subjects } = fed

    test('starts at the current position and reports later changes in order, with its position', async () => {
      await record('before')
      const { feed, told } = await follow()
      const start = feed.position()
      await record('one', 'two')
      await record('three')
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['one', 'two', 'three'])
      assert.equal(feed.position(), start + 3)
      await feed.catchUp()
      assert.equal(subjects(told).length, 3)
    })

    if (kind === 'postgresql') {
      test('reports a notified change immediately, without a poll', async () => {
        mock.timers.enable({ apis: ['setInterval'] }) // its poll is never due
        const { told } = await follow().finally(() => mock.timers.reset())
        for (let round = 0; round < 3; round++) {
          await record(`own ${round}`)
          await until('it is told', () => subjects(told).includes(`own ${round}`))
        }
      })
    }

    test('reports changes without notification by polling', async () => {
      const { feed, told } = await follow()
      const position = feed.position() + 1
      await fed.system.transaction(async (trx) => {
        await trx.updateTable('waypost_feed_head').set({ position }).execute()
        await trx
          .insertInto('waypost_feed')
          .values({ position, kind: 'token', subject: 'silent', created_at: 0 })
          .execute()
      })
      await until('it is told', () => subjects(told).includes('silent'))
      assert.equal(feed.isFresh(), true)
    })

    test('reports nothing of a transaction that is rolled back, and has no gap after it', async () => {
      const { feed, told } = await follow()
      const failing = fed.system.transaction(async (trx) => {
        await recordChanges(fed.system, trx, [{ kind: 'user', subject: 'never' }])
        throw new Error('rolled back')
      })
      await assert.rejects(failing, /rolled back/)
      await record('after')
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['after'])
    })

    test('misses none of many transactions that commit in another order than they began', async () => {
      const { feed, told } = await follow()
      const wanted = Array.from({ length: 60 }, (_, index) => `t${index}`)
      const poller = setInterval(() => void feed.catchUp(), 1)
      await Promise.all(
        wanted.map((subject, index) =>
          fed.system.transaction(async (trx) => {
            await trx.updateTable('waypost_client').set({ name: 'login' }).where('id', '=', 'nobody').execute()
            await pause(kind === 'sqlite' ? 0 : (index * 37) % 30) // later ones often end first
            await recordChanges(fed.system, trx, [{ kind: 'token', subject }])
            await pause(1) // the position is assigned but not yet visible to others
          }),
        ),
      )
      clearInterval(poller)
      await feed.catchUp()
      assert.deepEqual(subjects(told).toSorted(), wanted.toSorted())
    })

    test('has reported a change when catchUp returns, even if a poll was running when it was called', async () => {
      const { feed, told } = await follow()
      for (let round = 0; round < 100; round++) {
        void feed.catchUp()
        void feed.catchUp()
        await record(`round ${round}`)
        void feed.catchUp()
        await feed.catchUp()
        assert.equal(subjects(told).at(-1), `round ${round}`)
      }
    })

    test('reports thousands of changes at a time, in order and without a reset', async () => {
      const { feed, told } = await follow()
      const many = Array.from({ length: 2500 }, (_, index) => `many ${index}`)
      await fed.system.transaction(async (trx) => {
        for (let start = 0; start < many.length; start += 500) {
          const changes = many.slice(start, start + 500).map((subject): Change => ({ kind: 'token', subject }))
          await recordChanges(fed.system, trx, changes)
        }
      })
      await feed.catchUp()
      assert.deepEqual(subjects(told), many)
    })

    for (const size of [999, 1000, 1001, 2000, 2001]) {
      test(`reports ${size} changes of one transaction, around the batch size`, async () => {
        const { feed, told } = await follow()
        const many = Array.from({ length: size }, (_, index) => `${size} ${index}`)
        await record(...many)
        await feed.catchUp()
        assert.deepEqual(subjects(told), many)
      })
    }

    test('reports a reset when positions decrease, as after a restored backup, and continues from there', async () => {
      const { feed, told } = await follow()
      await fed.system.transaction(async (trx) => {
        await trx.updateTable('waypost_feed_head').set({ position: 1 }).execute()
        await trx.deleteFrom('waypost_feed').where('position', '>', 1).execute()
      })
      await feed.catchUp()
      assert.deepEqual(told, ['reset'])
      assert.equal(feed.position(), 1)
      await record('anew')
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['RESET', 'anew'])
    })

    test('reports a reset when a backup was restored and positions have grown past its own since', async () => {
      await record('before the backup')
      const { feed, told } = await follow()
      const start = feed.position()
      await record('lost')
      await feed.catchUp()
      await fed.system.transaction(async (trx) => {
        await trx.updateTable('waypost_feed_head').set({ position: start }).execute()
        await trx.deleteFrom('waypost_feed').where('position', '>', start).execute()
        await recordChanges(fed.system, trx, [{ kind: 'token', subject: 'in its place, and missed' }])
        await recordChanges(fed.system, trx, [{ kind: 'token', subject: 'seen' }])
      })
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['lost', 'RESET'])
      assert.equal(feed.position(), start + 2)
      await record('anew')
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['lost', 'RESET', 'anew'])
    })

    test('reports a reset when a backup was restored whose history ends at its position', async () => {
      await record('one')
      const { feed, told } = await follow()
      await fed.system.db
        .updateTable('waypost_feed')
        .set({ subject: 'another' })
        .where('position', '=', feed.position())
        .execute()
      await feed.catchUp()
      assert.deepEqual(told, ['reset'])
    })

    for (const [name, removed] of [
      ['what comes next', [1]],
      ['something between', [2]],
      ['everything', [1, 2, 3]],
    ] as const) {
      test(`reports a reset when ${name} was pruned before it was read`, async () => {
        const { feed, told } = await follow()
        const start = feed.position()
        await fed.system.transaction(async (trx) => {
          await recordChanges(
            fed.system,
            trx,
            [1, 2, 3].map((index): Change => ({ kind: 'token', subject: `gap ${index}` })),
          )
          const positions = removed.map((index) => start + index)
          await trx.deleteFrom('waypost_feed').where('position', 'in', positions).execute()
        })
        await feed.catchUp()
        assert.deepEqual(told, ['reset'])
        assert.equal(feed.position(), start + 3)
      })
    }

    test('ignores the pruning of changes that it has read', async () => {
      const { feed, told } = await follow()
      await record('old')
      await feed.catchUp()
      await fed.system.db.deleteFrom('waypost_feed').execute()
      await record('new')
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['old', 'new'])
    })

    test('notifies the other listeners when one of them throws, and reports that', async () => {
      const reported: unknown[] = []
      const feed = await startFeed(fed.system, { onError: (error) => reported.push(error) })
      open.push(feed)
      const told: News[] = []
      feed.listen(() => {
        throw new Error('a listener is broken')
      })
      const stop = feed.listen((news) => told.push(news))
      await record('both')
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['both'])
      assert.match(String(reported), /a listener is broken/)
      stop()
      await record('later')
      await feed.catchUp()
      assert.deepEqual(subjects(told), ['both'])
    })

    test('is fresh for a second from the start of a poll, by the monotonic clock, as after a suspension of the process', async () => {
      const clock = makeFrozenClock()
      const { feed } = await follow({ clock })
      clock.pass(999)
      assert.equal(feed.isFresh(), true)
      clock.pass(1)
      assert.equal(feed.isFresh(), false)
      await until('it is fresh', () => feed.isFresh())
    })

    test('is not fresh after the process was blocked for a second', async () => {
      const { feed } = await follow({ clock: systemClock })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1050) // blocks this thread
      assert.equal(feed.isFresh(), false)
      await until('it is fresh', () => feed.isFresh())
    })

    test('counts a poll from its start: one in progress while the process was suspended is old', async () => {
      const clock = makeFrozenClock()
      const { feed } = await follow({ clock })
      let old = 0
      for (let round = 0; round < 10; round++) {
        const reading = feed.catchUp()
        clock.pass(3000)
        await reading
        if (!feed.isFresh()) old++ // otherwise another poll was running and this one began after the stop
        await until('it is fresh', () => feed.isFresh())
      }
      assert.ok(old > 0)
    })

    test('is not fresh once it is closed', async () => {
      const feed = await startFeed(fed.system)
      await feed.close()
      assert.equal(feed.isFresh(), false)
    })

    test('is stale a second after the last successful read, reports it once, and recovers', async () => {
      const reported: unknown[] = []
      const clock = makeFrozenClock()
      const { feed, told } = await follow({ clock, onError: (error) => reported.push(error) })
      await sql`alter table waypost_feed_head rename to hidden`.execute(fed.system.db)
      await until('it cannot be read', () => reported.length > 0)
      assert.equal(feed.isFresh(), true)
      clock.pass(1000)
      assert.equal(feed.isFresh(), false)
      await pause(300)
      assert.equal(reported.length, 1)
      await assert.rejects(feed.catchUp())
      await sql`alter table hidden rename to waypost_feed_head`.execute(fed.system.db)
      await until('it is fresh', () => feed.isFresh())
      await record('back')
      await feed.catchUp()
      assert.equal(subjects(told).at(-1), 'back')
      assert.equal(reported.length, 1)
    })

    if (kind === 'sqlite') {
      test('is stale, and stays so, while another file is at the path of the database', async (t) => {
        const file = path.join(await mkdtemp(path.join(tmpdir(), 'waypost-feed-')), 'system.db')
        t.after(() => rm(path.dirname(file), { recursive: true, force: true }))
        await copySystem(`sqlite:${file}`, '')
        await copyFile(file, `${file}.other`)
        const system = await openSystem({ url: `sqlite:${file}` })
        const reported: unknown[] = []
        const clock = makeFrozenClock()
        const feed = await startFeed(system, { clock, onError: (error) => reported.push(error) })
        t.after(async () => {
          await feed.close()
          await system.close()
        })
        await system.check() // opens the file and notes which one it is
        await rename(`${file}.other`, file)
        await until('it cannot be read', () => reported.length > 0)
        assert.equal((reported[0] as { readonly code: string }).code, 'WP_STORE_REPLACED')
        clock.pass(1000)
        await pause(300) // several polls, more than one of which compares the files
        assert.equal(feed.isFresh(), false)
      })
    }

    test('is stale immediately when a process that made a change cannot catch up', async () => {
      const { feed } = await follow()
      await sql`alter table waypost_feed_head rename to hidden`.execute(fed.system.db)
      await assert.rejects(feed.catchUp())
      assert.equal(feed.isFresh(), false)
      await sql`alter table hidden rename to waypost_feed_head`.execute(fed.system.db)
      await until('it is fresh', () => feed.isFresh())
    })

    test('leaves nothing open when it is closed, also during a read, or when it cannot start', async () => {
      const small = await openSystem({ url: fed.url, poolSize: 2 })
      const wait = () => (kind === 'postgresql' ? sql`select pg_sleep(0.1)` : sql`select 1`).execute(small.db)
      await Promise.all([wait(), wait()]) // opens all connections of the pool
      const before = await countOpen()
      const feed = await startFeed(small)
      const reads = [feed.catchUp(), feed.catchUp()]
      await feed.close()
      await Promise.allSettled(reads)
      await feed.catchUp()
      await sql`alter table waypost_feed_head rename to hidden`.execute(fed.system.db)
      await assert.rejects(startFeed(small))
      await sql`alter table hidden rename to waypost_feed_head`.execute(fed.system.db)
      await until(
        'its timers are over',
        () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length <= before.timers + 2,
      )
      if (kind === 'postgresql') {
        await until('its connection is closed', async () => (await countOpen()).clients <= before.clients)
      }
      await small.close()
    })

    async function countOpen(): Promise<{ timers: number; clients: number }> {
      const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
      if (kind === 'sqlite') return { timers, clients: 0 }
      const { rows } = await sql<{ count: number }>`
        select cast(count(*) as int) as count from pg_stat_activity where datname = current_database()`.execute(
        fed.system.db,
      )
      return { timers, clients: rows[0]!.count }
    }

    if (kind === 'sqlite') return

    describe('over a line that breaks', () => {
      let line: Line
      let distant: System
      before(async () => {
        line = await openLine(fed.url)
        distant = await openSystem({ url: line.through(fed.url) })
      })
      after(async () => {
        await distant.close()
        await line.close()
      })

      for (const how of ['cut', 'freeze'] as const) {
        test(`is not fresh any more a second after the line is ${how}, and comes back with a reset`, async () => {
          const clock = makeFrozenClock()
          const { feed, told } = await follow({ clock }, distant)
          await line[how]()
          clock.pass(1000)
          assert.equal(feed.isFresh(), false)
          await record('missed')
          await line.mend()
          await until('it is fresh', () => feed.isFresh())
          await feed.catchUp()
          assert.ok(told.includes('reset') || subjects(told).includes('missed'), 'nothing cached before counts')
          await record('told')
          await feed.catchUp()
          assert.equal(subjects(told).at(-1), 'told')
          await feed.close()
        })
      }

      test('closes over a line that is frozen', async () => {
        const { feed } = await follow({}, distant)
        line.freeze()
        await pause(300) // keeps a poll waiting
        await feed.close()
        await line.mend()
      })
    })
  })
}
