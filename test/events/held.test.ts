import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelAllPending } from '../../src/events/index.ts'
import { changeHostIssuer, resumeHostDeliveries, type ActingHost } from '../../src/operate/index.ts'
import { loadFacts, replaceFact } from '../../src/store/index.ts'
import { until } from '../support/until.ts'
import { refuseStatements } from './refusing-system.ts'
import { type World, onAnyDatabase } from './world.ts'

const confirm = () => Promise.resolve(true)

/** A host as a command has it: of its parts, these changes use the database, the clock and who acts. */
function hostOf({ system, clock }: World): ActingHost {
  return { system, clock, actor: { how: 'command', name: 'tester' } } as unknown as ActingHost
}

const statesOf = async (world: World) => (await world.deliveries()).map(({ status }) => status)

onAnyDatabase('a System that may be a copy', (world) => {
  test('posts nothing until it is resumed, not even what a worker had in memory', async () => {
    const { system } = world()
    await replaceFact(system, 'issuer', 'https://live.example.com')
    const receiver = await world().openReceiver((response) => void response.writeHead(500).end())
    const user = await world().addUser()
    await world().subscribe(user, 'note', receiver.url)
    await world().dispatch('note', 0)
    await world().execute() // fails and is retried later
    for (let n = 1; n < 5; n++) await world().dispatch('note', n)
    receiver.choose = () => 204

    const change = await changeHostIssuer(hostOf(world()), { url: 'https://staging.example.com', confirm })
    const { host } = new URL(receiver.url)
    assert.deepEqual(change?.choice, 'hold')
    assert.partialDeepStrictEqual(change.waiting, { deliveries: 1, messages: 4 })
    assert.deepEqual(change.waiting.hosts, [{ host, deliveries: 1, subscriptions: 1 }])

    const stop = new AbortController()
    let statements = 0
    const watched = refuseStatements(system, () => void (statements += 1))
    const run = world().execute({ system: watched, watch: true, signal: stop.signal })
    await until('messages are fanned out', async () => (await world().deliveries()).length === 5)
    world().clock.forward(60 * 60_000) // the retry is due
    const seen = statements
    await until('the worker has looked several times', () => statements > seen + 50)
    assert.equal(receiver.received.length, 1)

    await resumeHostDeliveries(hostOf(world()), { choice: 'send', confirm })
    await until('all are posted', () => receiver.received.length === 6)
    stop.abort()
    await run
    assert.deepEqual(await statesOf(world()), Array(5).fill('delivered'))
  })

  test('ends what a worker has in memory', async () => {
    const { system } = world()
    await replaceFact(system, 'issuer', 'https://live.example.com')
    const begun = Promise.withResolvers<void>()
    const receiver = await world().openReceiver(() => begun.resolve())
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    for (let n = 0; n < 40; n++) await world().dispatch('note', n)
    const stop = new AbortController()
    const run = world().execute({ watch: true, signal: stop.signal, concurrency: 1 })
    await begun.promise
    await changeHostIssuer(hostOf(world()), { url: 'https://staging.example.com', confirm })
    receiver.choose = () => 204
    await until('the worker has begun anew', async () => {
      return (
        (await system.db.selectFrom('waypost_worker').select('note').where('note', '=', '[]').execute()).length === 1
      )
    })
    assert.equal(receiver.received.length, 1)
    await resumeHostDeliveries(hostOf(world()), { choice: 'send', confirm })
    await until('all are posted', async () => (await statesOf(world())).every((status) => status === 'delivered'))
    stop.abort()
    await run
  })

  test('cancels all that waits, also if others end some of it at the same time', async () => {
    const { system } = world()
    const receiver = await world().openReceiver((response) => void response.writeHead(500).end())
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    await world().dispatch('note', 0)
    await world().execute() // fails and is retried later
    const [first] = await system.db.selectFrom('waypost_delivery').selectAll().execute()
    const more = Array.from({ length: 1500 }, (_, index) => ({
      ...first!,
      id: `${first!.id}${index}`,
      message_id: `msg_${index}`,
    }))
    for (let from = 0; from < more.length; from += 100)
      await system.db
        .insertInto('waypost_delivery')
        .values(more.slice(from, from + 100))
        .execute()
    let ended: Promise<unknown> | undefined
    const watched = refuseStatements(system, (text) => {
      if (!/'cancelled'/.test(text)) return
      ended ??= system.db
        .updateTable('waypost_delivery')
        .set({ status: 'cancelled' })
        .where('id', 'like', `${first!.id}%9`)
        .execute()
    })
    await cancelAllPending(watched)
    await ended
    assert.ok((await statesOf(world())).every((status) => status === 'cancelled'))
  })

  test('cancels all that waits, and delivers later messages', async () => {
    const { system } = world()
    await replaceFact(system, 'issuer', 'https://live.example.com')
    const receiver = await world().openReceiver()
    await world().subscribe(await world().addUser(), 'note', receiver.url)
    const stop = AbortSignal.abort()
    for (let n = 0; n < 3; n++) await world().dispatch('note', n)
    await world().execute({ signal: stop })
    await world().dispatch('note', 4)
    const options = { url: 'https://staging.example.com', deliveries: 'cancel', confirm } as const
    const change = await changeHostIssuer(hostOf(world()), options)
    assert.equal(change?.cancelled, (await statesOf(world())).length)
    assert.equal((await loadFacts(system)).deliveries_held, undefined)
    assert.partialDeepStrictEqual(await world().execute(), { attempted: 0 })
    await world().dispatch('note', 5)
    assert.partialDeepStrictEqual(await world().execute(), { delivered: 1 })
    assert.equal(receiver.received.length, 1)
  })
})
