import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../events/world.ts'

onEachDatabase('an endpoint that hangs', (world) => {
  test('keeps no delivery to another one waiting', async () => {
    const due = 60
    const hung = await world().openReceiver(() => undefined)
    const quick = await world().openReceiver()
    const user = await world().addUser()
    await world().subscribe(user, 'note', hung.url)
    await world().subscribe(user, 'other_note', quick.url)
    for (let data = 0; data < due; data++) {
      await world().dispatch('note', data)
      await world().dispatch('other_note', data)
    }
    const stop = new AbortController()
    quick.choose = (count) => {
      if (count === due) {
        stop.abort()
        hung.hangUp()
      }
      return 204
    }
    await world().execute({ signal: stop.signal })
    assert.equal(quick.received.length, due)
    assert.ok(
      hung.received.length > 0 && hung.received.length < due,
      `${hung.received.length} were posted to the other`,
    )
  })
})
