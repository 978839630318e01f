import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Member } from '../../src/events/lanes/member.ts'
import { record } from '../../src/events/worker/record.ts'
import { onAnyDatabase } from './world.ts'

const holdsNothing = { usedLanes: () => new Set<number>(), forgetQueued: () => undefined }

onAnyDatabase('a worker that watches others', (world) => {
  test('does not end them after an outage of the database, before they could renew their leases', async () => {
    const { system, clock } = world()
    const [one, other] = [new Member(system, clock, holdsNothing), new Member(system, clock, holdsNothing)]
    const pass = (ms: number) => {
      clock.pass(ms)
      clock.forward(ms)
    }
    const beat = ({ id }: Member) =>
      record(system, { worker: id!, note: '[]', completions: [], breakers: [], shard: 0 })
    for (const member of [one, other, one]) assert.equal(await member.rebalance(), true)
    pass(20_000)
    assert.equal(await one.rebalance(), true)
    assert.ok(await beat(other))
    for (let seconds = 0; seconds < 14; seconds++) {
      pass(1000)
      await one.rebalance()
    }
    assert.ok(await beat(other), 'its lease is not over')
    for (let seconds = 0; seconds < 16; seconds++) {
      pass(1000)
      await one.rebalance()
    }
    assert.equal(await beat(other), undefined, 'its lease is over, and it was silent')
    assert.equal(one.lanes.length, 64)
    for (const member of [one, other]) await member.leave()
  })
})
