import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import { openSystem } from '../../src/store/index.ts'
import { until } from '../support/until.ts'
import { openReceiver } from './receiver.ts'
import { openWorld, type World } from './world.ts'

let opened: Awaited<ReturnType<typeof openWorld>>
let world: World
before(async () => {
  opened = await openWorld('sqlite')
  world = opened.world
  world.catalog = { note: {} }
})
after(() => opened.close())

test('an idle worker on SQLite reads when something was committed, and while something waits for a time', async () => {
  const receiver = await openReceiver()
  const statements: string[] = []
  const system = await openSystem({
    url: world.url,
    clock: world.clock,
    onStatement: ({ text }) => void statements.push(text),
  })
  const stop = new AbortController()
  const isReading = (text: string) => /fan_cursor|from waypost_delivery d/.test(text)
  const countReadings = () => statements.filter(isReading).length
  try {
    await world.subscribe(await world.addUser(), 'note', receiver.url)
    const running = world.execute({ system, watch: true, signal: stop.signal })
    await until('it has looked', () => statements.some((text) => text.includes('as waiting')))
    statements.length = 0
    await pause(2500)
    // The worker renews its lease every 2 s, which is a commit: then it reads once. Without that, 30 times.
    assert.ok(countReadings() <= 9, String(countReadings()))
    assert.ok(statements.length <= 40, statements.join('\n'))

    receiver.choose = () => 500
    await world.dispatch('note', 1)
    await until('the first attempt', () => receiver.received.length === 1)
    await until('it is put off', async () => (await world.deliveries())[0]!.due_at > 0)
    receiver.choose = () => 200
    world.clock.forward(600_000) // nothing is committed
    await until('the second attempt', () => receiver.received.length === 2)
    stop.abort()
    assert.equal((await running).delivered, 1)
  } finally {
    stop.abort()
    await system.close()
    await receiver.close()
  }
})
