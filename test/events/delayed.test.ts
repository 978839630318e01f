import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledQuery, sql } from 'kysely'
import type { ConnectionSet } from '../../src/connection/index.ts'
import type { DispatchOptions } from '../../src/contract/index.ts'
import { cancelAllPending, makeDispatcher } from '../../src/events/index.ts'
import { maxMoved, moveDelayed } from '../../src/events/message/delayed.ts'
import { findMessages } from '../../src/events/message/fan-out.ts'
import { silentLog } from '../../src/host/migrations/migration-databases.ts'
import { loadWaitingDeliveries } from '../../src/operate/index.ts'
import { makeActionContext, type ActionContext } from '../../src/runtime/action-context.ts'
import { followIndexes, type System } from '../../src/store/index.ts'
import { isLong } from '../support/forms.ts'
import { recordQueries } from '../support/recorded-queries.ts'
import { onBothDatabases, type World } from './world.ts'

const minute = 60_000
const hour = 60 * minute

onBothDatabases('a delayed event', (world) => {
  test('is sent when it is due, to those who are subscribed then, and holds up no other event', async () => {
    const receiver = await subscribe(world(), { ordered: true })
    await act(world(), (context) => context.dispatch('note', 'later', { delay: '1h' }))
    await act(world(), (context) => context.dispatch('note', 'at', { at: new Date(world().clock.now() + 2 * hour) }))
    await world().dispatch('note', 'now')
    await world().execute()
    assert.deepEqual(receiver.bodies(), ['"now"'])
    world().clock.forward(hour - minute)
    await world().execute()
    assert.deepEqual(receiver.bodies(), ['"now"'])
    const late = await subscribe(world())
    world().clock.forward(2 * minute)
    await world().execute()
    assert.deepEqual(receiver.bodies(), ['"now"', '"later"'])
    assert.deepEqual(late.bodies(), ['"later"'])
    world().clock.forward(hour)
    await world().execute()
    assert.deepEqual(receiver.bodies(), ['"now"', '"later"', '"at"'])
    assert.deepEqual(await delayed(world()), [])
  })

  test('of a time in the past is sent at once', async () => {
    await act(world(), (context) => context.dispatch('note', 1, { at: new Date(0), users: ['u'] }))
    assert.equal(await moveDelayed(world().system, world().catalog), 1)
    const [message] = await world().system.db.selectFrom('waypost_message').selectAll().execute()
    assert.deepEqual([message!.event, message!.data, message!.users], ['note', '1', '["u"]'])
    assert.ok(Math.abs(message!.created_at - world().clock.now()) < minute, 'it is dispatched when it is moved')
  })

  test('with the key of one that waits is dropped, or replaces it', async () => {
    await act(world(), (context) => context.dispatch('note', 1, { delay: '1h', key: 'a' }))
    await act(world(), (context) => context.dispatch('note', 2, { delay: '2h', key: 'a' }))
    await act(world(), (context) => context.dispatch('other_note', 3, { delay: '3h', key: 'a' }))
    assert.deepEqual(await delayed(world()), ['note a 1 in 1h', 'other_note a 3 in 3h'])
    await act(world(), (context) => context.dispatch('note', 4, { delay: '4h', key: 'a', replace: true }))
    assert.deepEqual(await delayed(world()), ['note a 4 in 4h', 'other_note a 3 in 3h'])
    await act(world(), (context) => context.cancel('note', 'a'))
    await act(world(), (context) => context.cancel('note', 'unknown'))
    assert.deepEqual(await delayed(world()), ['other_note a 3 in 3h'])
  })

  test('can have the key of one that was sent', async () => {
    for (const n of [1, 2]) {
      await act(world(), (context) => context.dispatch('note', n, { delay: '1h', key: 'a' }))
      world().clock.forward(hour)
      assert.equal(await moveDelayed(world().system, world().catalog), 1)
    }
    assert.deepEqual(await messages(world()), ['note 1', 'note 2'])
  })

  const options = (delay: string, replace?: true): DispatchOptions => ({ delay, key: 'k', ...(replace && { replace }) })
  const sequences: readonly [name: string, steps: (context: ActionContext) => Promise<void>[], left: string[]][] = [
    ['added twice', (c) => [c.dispatch('note', 1, options('1h')), c.dispatch('note', 2, options('2h'))], ['1']],
    [
      'added and replaced',
      (c) => [c.dispatch('note', 1, options('1h')), c.dispatch('note', 2, options('2h', true))],
      ['2'],
    ],
    ['added and cancelled', (c) => [c.dispatch('note', 1, options('1h')), c.cancel('note', 'k')], []],
    ['cancelled and added', (c) => [c.cancel('note', 'k'), c.dispatch('note', 1, options('1h'))], ['1']],
    [
      'replaced and added',
      (c) => [c.dispatch('note', 1, options('1h', true)), c.dispatch('note', 2, options('2h'))],
      ['1'],
    ],
  ]
  test('is what the changes of a transaction amount to, whether or not there was one before', async () => {
    for (const hasOne of [false, true])
      for (const [name, steps, left] of sequences) {
        await world().system.db.deleteFrom('waypost_delayed').execute()
        if (hasOne) await act(world(), (context) => context.dispatch('note', 0, options('9h')))
        const context = makeContext(world())
        await context.transaction('System', () => Promise.all(steps(context)))
        const rows = await world().system.db.selectFrom('waypost_delayed').select('data').execute()
        const expected = hasOne && name === 'added twice' ? ['0'] : left
        assert.deepEqual(
          rows.map(({ data }) => data),
          expected,
          `${name}, ${hasOne}`,
        )
      }
  })

  test('is gone, or kept, with a transaction that is rolled back', async () => {
    await act(world(), (context) => context.dispatch('note', 1, { delay: '1h', key: 'kept' }))
    const context = makeContext(world())
    const work = context.transaction('System', async () => {
      await context.dispatch('note', 2, { delay: '1h' })
      await context.cancel('note', 'kept')
      throw new Error('no')
    })
    await assert.rejects(work, /^Error: no$/)
    await context.storeDispatched()
    assert.deepEqual(await delayed(world()), ['note kept 1 in 1h'])
  })

  test('keeps its wait if the clock of the database is set back, and its time if the action gave one', async () => {
    const at = new Date(world().clock.now() + 5 * hour)
    await act(world(), (context) => context.dispatch('note', 'wait', { delay: '2h', key: 'a' }))
    await act(world(), (context) => context.dispatch('note', 'time', { at, key: 'b' }))
    world().clock.forward(-hour)
    await world().execute()
    assert.deepEqual(await delayed(world()), ['note a "wait" in 2h', 'note b "time" in 6h'])
  })

  test('is sent once, whoever moves it, in bounded batches', async (t) => {
    if (!isLong && world().kind === 'sqlite') return t.skip('long form: on PostgreSQL movers meet')
    const count = 2 * maxMoved + 10
    await addMany(world(), count)
    const moved = await Promise.all([
      moveDelayed(world().system, world().catalog),
      moveDelayed(world().system, world().catalog),
    ])
    const rest = [
      await moveDelayed(world().system, world().catalog),
      await moveDelayed(world().system, world().catalog),
    ]
    const sum = [...moved, ...rest].reduce((total, one) => total + one, 0)
    assert.equal(sum, count)
    assert.equal(Math.max(...moved, ...rest), maxMoved)
    const sent = await messages(world())
    assert.equal(new Set(sent).size, count)
  })

  test('is looked for and moved in the order of its index, so that all that wait are not sorted each time', async () => {
    await addMany(world(), 100)
    const { system: recorded, queries } = recordQueries(world().system)
    const system: System = { ...recorded, transaction: (work) => recorded.db.transaction().execute(work) }
    await findMessages(system, world().catalog)
    await moveDelayed(system, world().catalog)
    const reads = queries.filter(({ sql: text }) => text.includes('waypost_delayed'))
    assert.equal(reads.length, 2)
    for (const { sql: text, parameters } of reads) {
      const explain = world().kind === 'sqlite' ? 'explain query plan' : 'explain'
      const plan = await world().system.transaction(async (trx) => {
        await followIndexes(world().system, trx)
        return JSON.stringify(await trx.executeQuery(CompiledQuery.raw(`${explain} ${text}`, [...parameters])))
      })
      assert.match(plan, /using (index )?waypost_delayed_due_at_id_index/i)
    }
  })

  test('of many that are due at once does not stand before other events', async (t) => {
    if (!isLong && world().kind === 'sqlite') return t.skip('long form: on PostgreSQL it is the same order')
    const count = isLong ? 100_000 : 2000
    await addMany(world(), count)
    const receiver = await subscribe(world())
    const other = await subscribe(world(), { event: 'other_note' })
    await world().dispatch('other_note', 'now')
    const before = new Set<number>()
    other.receiver.choose = () => {
      before.add(receiver.receiver.received.length)
      return 204
    }
    await world().execute()
    assert.equal(receiver.receiver.received.length, count)
    assert.ok(Math.max(...before) <= 2 * maxMoved, `${[...before].join()} came before`)
    assert.deepEqual(await delayed(world()), [])
  })

  test('of an event that was removed waits as its messages do, until a release declares it again', async () => {
    const receiver = await subscribe(world())
    await act(world(), (context) => context.dispatch('note', 1, { delay: '1h' }))
    const { note, ...others } = world().catalog
    world().catalog = others
    world().clock.forward(hour)
    await world().execute()
    assert.deepEqual(receiver.bodies(), [])
    world().catalog = { ...others, note: note! }
    await world().execute()
    assert.deepEqual(receiver.bodies(), ['1'])
  })

  test('is counted among what waits, and cancelled with it', async () => {
    await act(world(), (context) => context.dispatch('note', 1, { delay: '1h' }))
    assert.partialDeepStrictEqual(await loadWaitingDeliveries(world().system), { messages: 0, delayed: 1 })
    await cancelAllPending(world().system)
    assert.deepEqual(await delayed(world()), [])
  })

  test('with invalid options throws inside the action', async () => {
    const invalid: readonly [options: object, reason: RegExp][] = [
      [{ delay: 'soon' }, /the delay "soon" is not a duration/],
      [{ delay: 5 }, /the delay "5" is not a duration/],
      [{ delay: '9000w' }, /longer than 10 years/],
      [{ at: '2026-01-01' }, /"at" is not a valid Date/],
      [{ at: new Date(NaN) }, /"at" is not a valid Date/],
      [{ at: new Date(8.64e15) }, /"at" is more than 10 years ahead/],
      [{ delay: '1h', at: new Date() }, /both "delay" and "at"/],
      [{ key: 'a' }, /"key" has neither "delay" nor "at"/],
      [{ delay: '1h', replace: true }, /"replace" has no "key"/],
      [{ delay: '1h', key: 'a', replace: 'yes' }, /"replace" is neither true nor false/],
      ...['', 'k'.repeat(256), 'a\0b', 7].map((key): [object, RegExp] => [{ delay: '1h', key }, /"key" is not a text/]),
    ]
    for (const [one, message] of invalid) {
      const context = makeContext(world())
      await assert.rejects(context.dispatch('note', 1, one), { code: 'WP_EVENTS_DELAY', message })
      await assert.rejects(context.storeDispatched(), { code: 'WP_EVENTS_DELAY' })
    }
    const context = makeContext(world())
    await assert.rejects(context.cancel('note', ''), { code: 'WP_EVENTS_DELAY' })
    await assert.rejects(context.cancel('notes', 'a'), { code: 'WP_EVENTS_DISPATCH_UNKNOWN' })
    assert.deepEqual(await delayed(world()), [])
  })

  test('can be written by transactions in opposite orders', async () => {
    const isPostgres = world().kind === 'postgresql' // on SQLite, transactions run one after another
    const both = Promise.withResolvers<void>()
    let begun = 0
    const write = (keys: readonly [string, string], cancels: boolean) => {
      const context = makeContext(world())
      return context.transaction('System', async () => {
        for (const key of keys) {
          await context.dispatch('note', keys[0], { delay: '1h', key, replace: true })
          if (cancels && key === keys[1]) await context.cancel('note', key)
          if (++begun === 2 || !isPostgres) both.resolve()
          await both.promise
        }
      })
    }
    for (let round = 0; round < 20; round++) {
      begun = 0
      await Promise.all([write(['a', 'b'], round % 2 === 1), write(['b', 'a'], round % 3 === 1)])
    }
  })
})

/** An action that succeeds. */
async function act(world: World, work: (context: ActionContext) => Promise<void>): Promise<void> {
  const context = makeContext(world)
  await work(context)
  await context.storeDispatched()
}

function makeContext({ system, catalog, clock }: World): ActionContext {
  const connection = { client: system.db, transaction: (work: never) => system.transaction(work) }
  return makeActionContext(
    {
      connections: { get: () => connection } as unknown as ConnectionSet,
      clock,
      dispatcher: makeDispatcher(system, catalog),
      env: {},
    },
    { principal: undefined, log: silentLog, signal: new AbortController().signal },
  )
}

async function subscribe(world: World, { event = 'note', ordered = false } = {}) {
  const receiver = await world.openReceiver()
  const { id } = await world.subscribe(await world.addUser(['consumer']), event, receiver.url)
  if (ordered)
    await world.system.db.updateTable('waypost_subscription').set({ ordered: 1 }).where('id', '=', id).execute()
  return { receiver, bodies: () => receiver.received.map(({ body }) => body) }
}

/** Events that are due. */
async function addMany({ system }: World, count: number): Promise<void> {
  const rows = JSON.stringify(Array.from({ length: count }, (_, n) => n))
  const each =
    system.kind === 'sqlite' ? sql`json_each(${rows})` : sql`json_array_elements(cast(${rows} as json)) as e(value)`
  await sql`insert into waypost_delayed (id, event, data, due_at, created_at)
    select 'dly_' || value, 'note', cast(value as text), ${system.now()} - 10, ${system.now()} - 20 from ${each}`.execute(
    system.db,
  )
}

async function delayed({ system, clock }: World): Promise<string[]> {
  const rows = await system.db.selectFrom('waypost_delayed').selectAll().execute()
  return rows
    .map(({ event, key, data, due_at: due }) => `${event} ${key} ${data} in ${Math.round((due - clock.now()) / hour)}h`)
    .toSorted()
}

async function messages({ system }: World): Promise<string[]> {
  const rows = await system.db.selectFrom('waypost_message').selectAll().execute()
  return rows.map(({ event, data }) => `${event} ${data}`).toSorted()
}
