import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { ConnectionSet } from '../../src/connection/index.ts'
import type { OpenConnection } from '../../src/contract/index.ts'
import { makeDispatcher } from '../../src/events/index.ts'
import { moveDelayed } from '../../src/events/message/delayed.ts'
import { findMessages } from '../../src/events/message/fan-out.ts'
import { makeActionContext, type ActionContext } from '../../src/runtime/action-context.ts'
import { silentLog } from '../../src/host/migrations/migration-databases.ts'
import { onBothDatabases, type World } from './world.ts'

onBothDatabases('dispatch', (world) => {
  test('in a transaction of System is stored with it', async () => {
    const context = makeContext(world())
    await context.transaction('System', async () => {
      await context.dispatch('note', { n: 1 })
      assert.equal(await countElsewhere(world()), 0, 'nobody sees it before the commit')
    })
    assert.deepEqual(await messages(world()), ['note {"n":1}'])
    await context.storeDispatched()
    assert.equal((await messages(world())).length, 1, 'and only once')
  })

  test('in a transaction that is rolled back is gone with it', async () => {
    const context = makeContext(world())
    const work = context.transaction('System', async () => {
      await context.dispatch('note', 1)
      throw new Error('no')
    })
    await assert.rejects(work, /^Error: no$/)
    await context.storeDispatched()
    assert.deepEqual(await messages(world()), [])
  })

  test('outside of a transaction is stored when the action has succeeded', async () => {
    const context = makeContext(world())
    await context.dispatch('note', 1)
    await context.dispatch('other_note', 2)
    assert.deepEqual(await messages(world()), [])
    await context.storeDispatched()
    assert.deepEqual(await messages(world()), ['note 1', 'other_note 2'])
  })

  test('in an action that throws is discarded', async () => {
    const context = makeContext(world())
    await context.dispatch('note', 1)
    assert.deepEqual(await messages(world()), []) // whoever runs the action does not call storeDispatched then
  })

  test("in another connection's transaction waits for its commit and for the action", async () => {
    const context = makeContext(world())
    await context.transaction('Other' as 'System', async () => {
      await context.dispatch('note', 'kept')
      assert.deepEqual(await messages(world()), [])
    })
    await assert.rejects(
      context.transaction('Other' as 'System', async () => {
        await context.dispatch('note', 'lost')
        throw new Error('no')
      }),
    )
    assert.deepEqual(await messages(world()), [])
    await context.storeDispatched()
    assert.deepEqual(await messages(world()), ['note "kept"'])
  })

  test('is frozen when it is dispatched', async () => {
    const context = makeContext(world())
    const data = { list: [1] }
    await context.dispatch('note', data)
    data.list.push(2)
    await context.storeDispatched()
    assert.deepEqual(await messages(world()), ['note {"list":[1]}'])
  })

  test('of an undeclared event throws inside the action and suggests the nearest name', async () => {
    const context = makeContext(world())
    await assert.rejects(context.dispatch('notes', 1), {
      code: 'WP_EVENTS_DISPATCH_UNKNOWN',
      message: 'An action dispatched the event "notes", which is not declared in waypost.yml',
      hint: 'Did you mean "note"?',
    })
    for (const name of ['constructor', '__proto__', 'toString', '']) {
      await assert.rejects(context.dispatch(name, 1), { code: 'WP_EVENTS_DISPATCH_UNKNOWN' })
    }
    // The action fails, whatever it made of the error.
    await assert.rejects(context.storeDispatched(), { code: 'WP_EVENTS_DISPATCH_UNKNOWN' })
    assert.deepEqual(await messages(world()), [])
  })

  test('data that cannot be serialized as JSON throws inside the action', async () => {
    const context = makeContext(world())
    const circle: { self?: unknown } = {}
    circle.self = circle
    const unwritable: readonly unknown[] = [undefined, () => 1, Symbol('s'), 1n, circle, { toJSON: () => undefined }]
    for (const data of unwritable) {
      await assert.rejects(context.dispatch('note', data), { code: 'WP_EVENTS_DATA' })
    }
    await assert.rejects(context.storeDispatched(), { code: 'WP_EVENTS_DATA' })
    assert.deepEqual(await messages(world()), [])
  })

  test('numbers that JSON does not have are named in an error, instead of becoming null', async () => {
    const context = makeContext(world())
    const cases: readonly [unknown, RegExp][] = [
      [NaN, /: it is NaN or infinite$/],
      [{ total: { price: [1, -Infinity] } }, /: "total\/price\/1" is NaN or infinite$/],
    ]
    for (const [data, message] of cases)
      await assert.rejects(context.dispatch('note', data), { code: 'WP_EVENTS_DATA', message })
    const kept = { at: new Date(0), none: null, sum: Object.assign(new Date(0), { cached: NaN }) }
    await makeContext(world()).dispatch('note', kept)
  })

  test('to users that are not a list of ids throws inside the action', async () => {
    const context = makeContext(world())
    for (const users of ['ann', [1], [undefined], {}]) {
      await assert.rejects(context.dispatch('note', 1, { users: users as string[] }), { code: 'WP_EVENTS_USERS' })
    }
  })

  test('of more events than a statement can contain stores all of them or none', async () => {
    const context = makeContext(world())
    for (let n = 0; n < 6000; n++) await context.dispatch('note', n)
    await context.storeDispatched()
    const { rows } = await sql<{ n: number }>`select count(*) as n from waypost_message`.execute(world().system.db)
    assert.equal(rows[0]!.n, 6000)

    const dispatcher = makeDispatcher(world().system, world().catalog)
    const unstorable = { event: 'note', data: null as unknown as string, users: undefined }
    const many = Array.from({ length: 600 }, (_, n) => dispatcher.prepare({ event: 'note', data: n }))
    await assert.rejects(dispatcher.store([...many, unstorable]), /not.null/i)
    assert.equal((await messages(world())).length, 6000)
  })

  test('of very many events in a transaction stores all of them, in their order, or none', async () => {
    const count = 1200
    const dispatchMany = async (end?: Error) => {
      const context = makeContext(world())
      await context.transaction('System', async () => {
        for (let n = 0; n < count; n++) await context.dispatch('note', n)
        if (end !== undefined) throw end
      })
    }
    const error = new Error('no')
    await assert.rejects(dispatchMany(error), error)
    assert.deepEqual(await messages(world()), [])
    await dispatchMany()
    const rows = await world().system.db.selectFrom('waypost_message').select('data').orderBy('id').execute()
    assert.deepEqual(
      rows.map(({ data }) => Number(data)),
      Array.from({ length: count }, (_, n) => n),
    )
  })

  for (const isBuiltOnce of [false, true])
    test(`of an event that only listeners receive is stored as fanned out${isBuiltOnce ? ', by a statement that is built once' : ''}`, async () => {
      const now = isBuiltOnce ? () => sql<number>`cast(1 as bigint)` : world().system.now
      const system = { ...world().system, now }
      const listeners = [{ name: 'one' }]
      const catalog = { note: {}, inner: { private: true, listeners }, quiet: { private: true } } as const
      const dispatcher = makeDispatcher(system, catalog)
      const later = new Date(0)
      const prepare = (event: string, at?: Date) => dispatcher.prepare({ event, data: 1, ...(at && { at }) })
      for (const event of Object.keys(catalog)) await dispatcher.store([prepare(event)]) // one by one
      await dispatcher.store(Object.keys(catalog).map((event) => prepare(event))) // with one statement
      await dispatcher.store(Object.keys(catalog).map((event) => prepare(event, later)))
      assert.equal(await moveDelayed(system, catalog), 3)
      const { rows } = await sql<{ event: string; fanned: number; n: number }>`
        select event, count(fanned_out_at) as fanned, count(*) as n from waypost_message group by event order by event`.execute(
        world().system.db,
      )
      assert.deepEqual(
        rows.map(({ event, fanned, n }) => [event, fanned, n]),
        [
          ['inner', 3, 3],
          ['note', 0, 3],
          ['quiet', 3, 3],
        ],
      )
      assert.equal((await world().system.db.selectFrom('waypost_run').select('id').execute()).length, 3)
      assert.deepEqual(await findMessages(world().system, catalog), { fresh: true, begun: false, delayed: false })
      assert.deepEqual(await findMessages(world().system, { inner: catalog.inner }), {
        fresh: false,
        begun: false,
        delayed: false,
      })
    })

  const ends: readonly (readonly [listeners: readonly { name: string }[], isBuiltOnce: boolean])[] = [
    [[], false],
    [[], true],
    [[{ name: 'one' }, { name: 'two' }], false],
    [[{ name: 'one' }, { name: 'two' }], true],
  ]
  for (const [listeners, isBuiltOnce] of ends)
    test(`at the end of a transaction is committed with it, with ${listeners.length} listeners${isBuiltOnce ? ', by a statement that is built once' : ''}`, async () => {
      const isPostgres = world().kind === 'postgresql'
      const now = isBuiltOnce ? () => sql<number>`cast(1 as bigint)` : world().system.now
      const dispatcher = makeDispatcher({ ...world().system, now }, { note: { listeners } })
      const prepared = dispatcher.prepare({ event: 'note', data: 1 })
      const seen: number[] = []
      // On one connection, so that the next transaction begins where one was committed.
      await world()
        .system.db.connection()
        .execute(async (db) => {
          for (let n = 0; n < 2; n++) {
            await db.transaction().execute(async (trx) => {
              await dispatcher.store([prepared], trx, true)
              seen.push(await countElsewhere(world()))
            })
          }
          const unstorable = { ...prepared, data: null as unknown as string }
          const failing = db.transaction().execute(async (trx) => {
            await dispatcher.store([prepared], trx)
            await dispatcher.store([unstorable], trx, true)
          })
          await assert.rejects(failing, /not.null/i)
        })
      assert.deepEqual(seen, isPostgres ? [1, 2] : [0, 1])
      assert.equal(await countElsewhere(world()), 2)
      const runs = await world().system.db.selectFrom('waypost_run').select('listener').orderBy('id').execute()
      assert.deepEqual(
        runs.map(({ listener }) => listener),
        [...listeners, ...listeners].map(({ name }) => name),
      )
    })
})

/** The context of an action with System and another connection, whose transactions only have a beginning and an end. */
function makeContext({ system, catalog, clock }: World): ActionContext {
  const open: Record<string, OpenConnection> = {
    System: {
      client: system.db,
      check: async () => {},
      transaction: (work) => system.transaction((trx) => work(trx)),
      close: async () => {},
    },
    Other: { client: {}, check: async () => {}, transaction: (work) => work({}), close: async () => {} },
  }
  const connections = { get: (name: string) => open[name]! } as ConnectionSet
  return makeActionContext(
    { connections, clock, dispatcher: makeDispatcher(system, catalog), env: {} },
    { principal: undefined, log: silentLog, signal: new AbortController().signal },
  )
}

async function messages({ system }: World): Promise<string[]> {
  const rows = await system.db.selectFrom('waypost_message').selectAll().execute()
  return rows.map(({ event, data }) => `${event} ${data}`).toSorted()
}

async function countElsewhere({ system }: World): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from waypost_message`.execute(system.guardDb)
  return rows[0]!.n
}
