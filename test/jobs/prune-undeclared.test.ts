import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultSettings, makeSortedId } from '../../src/kit/index.ts'
import { pruneSystem } from '../../src/jobs/retention/prune.ts'
import { systemKinds } from '../support/server.ts'
import { openTestHost, type TestHost } from '../events/host.ts'

const day = 86_400_000

for (const kind of systemKinds) {
  describe(`deliveries of an event, ${kind}`, () => {
    let opened: TestHost
    before(async () => {
      opened = await openTestHost(kind)
    })
    after(() => opened.close())
    const prune = () => pruneSystem(opened.host.system, { settings: defaultSettings, chunk: 1 })

    /** A message that nobody has fanned out, and another one's delivery that is due. */
    async function addWaiting(event: string, ageDays: number): Promise<void> {
      const { db } = opened.host.system
      const at = Date.now() - ageDays * day
      const message = { event, data: '1', users: null, fan_cursor: null, created_at: at }
      const [waiting, fanned] = [makeSortedId('msg_', at), makeSortedId('msg_', at)]
      await db
        .insertInto('waypost_message')
        .values([
          { ...message, id: waiting, fanned_out_at: null },
          { ...message, id: fanned, fanned_out_at: at },
        ])
        .execute()
      const times = { due_at: at, scheduled_at: at, created_at: at, finished_at: null }
      const delivery = { status: 'pending' as const, failures: 0, lost: 0, subscription_id: event }
      await db
        .insertInto('waypost_delivery')
        .values({ ...delivery, ...times, id: makeSortedId('dlv_', at), message_id: fanned })
        .execute()
    }

    /** How many messages and deliveries there are, by event. */
    async function counts(): Promise<Readonly<Record<string, readonly [number, number]>>> {
      const { db } = opened.host.system
      const messages = await db.selectFrom('waypost_message').select('event').execute()
      const deliveries = await db.selectFrom('waypost_delivery').select('subscription_id as event').execute()
      const of = (rows: readonly { event: string }[], event: string) => rows.filter((row) => row.event === event).length
      return Object.fromEntries(['noted', 'gone'].map((event) => [event, [of(messages, event), of(deliveries, event)]]))
    }

    test('stays before the first deployment, and is deleted some time after a release no longer declares it', async () => {
      for (const event of ['noted', 'gone']) {
        await opened.host.system.db
          .insertInto('waypost_subscription')
          .values({
            id: event,
            event,
            user_id: 'user',
            endpoint: 'http://localhost/',
            status: 'paused',
            revision: 1,
            secret: '',
            created_at: 1,
          })
          .execute()
        for (const age of [29, 31, 32]) await addWaiting(event, age)
      }
      assert.deepEqual(await prune(), {})
      await opened.activate({ events: { noted: {} } })
      assert.deepEqual(await prune(), { waypost_delivery: 2, waypost_message: 2 })
      assert.deepEqual(await prune(), { waypost_message: 2 }, 'that no deliveries waitinging for any more')
      assert.deepEqual(await counts(), { noted: [6, 3], gone: [2, 1] })
    })

    test('the same applies to delayed events that are due', async () => {
      const { db } = opened.host.system
      const rows = ['noted', 'gone'].flatMap((event) =>
        [29, 31, -31].map((age) => {
          const at = Date.now() - age * day
          return { id: makeSortedId('dly_', at), event, key: null, data: '1', users: null, due_at: at, created_at: 1 }
        }),
      )
      await db.insertInto('waypost_delayed').values(rows).execute()
      assert.deepEqual(await prune(), { waypost_delayed: 1 })
    })
  })
}
