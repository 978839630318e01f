import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Member } from '../../src/events/lanes/member.ts'
import { laneCount, shareOf } from '../../src/events/lanes/shares.ts'
import { fanOutChunk } from '../../src/events/message/fan-out.ts'
import { record } from '../../src/events/worker/record.ts'
import { makeTestClock } from '../support/clock.ts'
import { holdWorkers, refuseStatements } from './refusing-system.ts'
import { leaveDead, makeMember, onBothDatabases, onEachDatabase, type World } from './world.ts'

onEachDatabase('workers', (world) => {
  test('that join and leave have their shares of all lanes, whatever their number', async () => {
    world().clock.freeze() // on a busy machine, a round can take longer than a lease
    const members: Member[] = []
    for (const count of [1, 2, 3, 5, 8, 13, 31, 64, 65, 70, 33, 7, 2, 1]) {
      while (members.length > count) await members.pop()!.leave()
      while (members.length < count) members.push(makeMember(world()))
      // In one round those with too many release them, in the next the others take them.
      for (let round = 0; round < 3; round++) for (const member of members) await member.rebalance()
      const ids = members.map((member) => member.id!)
      const owners = await loadOwners(world())
      assert.equal(owners.size, laneCount, `each lane has a worker, of ${count}`)
      for (const member of members) {
        const own = [...owners].filter(([, owner]) => owner === member.id).map(([lane]) => lane)
        assert.equal(own.length, shareOf(member.id!, ids), `${count}`)
        assert.deepEqual(new Set(member.lanes), new Set(own))
      }
      assert.equal((await workerRows(world())).length, count)
    }
    await members[0]!.leave()
    assert.deepEqual([await workerRows(world()), (await loadOwners(world())).size], [[], 0])
  })

  test('that compare at the same time never have the same lane', async () => {
    const members = Array.from({ length: 6 }, () => makeMember(world()))
    for (let round = 0; round < 8; round++) {
      await Promise.all(members.map((member) => member.rebalance()))
      const lanes = members.flatMap((member) => member.lanes)
      assert.equal(new Set(lanes).size, lanes.length)
    }
    assert.equal(members.flatMap((member) => member.lanes).length, laneCount)
    for (const member of members) await member.leave()
  })

  test('release idle lanes first, and a lane with something under way when that is recorded', async () => {
    const busy = new Set(Array.from({ length: 40 }, (_, lane) => lane))
    const closed: number[] = []
    const loaded = { usedLanes: () => busy, forgetQueued: (lane: number) => void closed.push(lane) }
    const first = new Member(world().system, world().clock, loaded)
    const second = makeMember(world())
    await first.rebalance()
    assert.equal(first.lanes.length, laneCount)
    await second.rebalance()
    assert.deepEqual(second.lanes, [], 'none is free')
    await first.rebalance()
    assert.equal(new Set(closed).size, 32)
    assert.equal(first.lanes.length, 32, 'it reads no more from those that close')
    assert.ok(first.lanes.every((lane) => busy.has(lane)))
    await second.rebalance()
    assert.deepEqual(new Set(second.lanes), new Set(Array.from({ length: 24 }, (_, index) => 40 + index)))
    busy.clear()
    await first.rebalance()
    await second.rebalance()
    assert.deepEqual([first.lanes.length, second.lanes.length], [32, 32])
    await first.leave()
    await second.leave()
  })

  test('that join meanwhile are not taken for dead by one that saw the lanes before', async () => {
    const first = makeMember(world())
    await first.rebalance()
    const { system } = world()
    // The second takes all lanes between the two reads of the third.
    const second = makeMember(world())
    let isDone = false
    const slow: World['system'] = {
      ...system,
      db: system.db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          if (!isDone && result.rows[0]?.['lane'] !== undefined) {
            isDone = true
            await first.leave()
            await second.rebalance()
            await system.db.updateTable('waypost_lane').set({ worker_id: second.id! }).execute()
          }
          return result
        },
      }),
    }
    const third = makeMember({ system: slow, clock: world().clock })
    await third.rebalance()
    assert.equal(second.lanes.length, laneCount / 2, 'the third has joined')
    assert.deepEqual(third.lanes, [], 'nothing is as it saw it')
    await second.leave()
    await third.leave()
  })

  test('that miss their row take nothing, and join under another id', async () => {
    const member = makeMember(world())
    await member.rebalance()
    const { id } = member
    await world().system.db.deleteFrom('waypost_worker').execute()
    assert.equal(await member.rebalance(), false)
    member.lose()
    assert.deepEqual([member.lanes, member.isLive()], [[], false])
    assert.equal(await member.rebalance(), true)
    assert.notEqual(member.id, id)
    assert.equal(member.lanes.length, laneCount)
    await member.leave()
  })

  test('live until a second before the end of their lease, by the clock that went further', async () => {
    for (const move of ['pass', 'forward'] as const) {
      const clock = makeTestClock()
      clock.freeze()
      const member = makeMember({ system: world().system, clock })
      assert.equal(member.isLive(), false, 'it has not joined')
      await member.rebalance()
      assert.equal(member.isLive(), true)
      clock[move](13_000)
      assert.equal(member.isLive(), move === 'pass' || member.renewedMs < 14_000)
      clock[move](1001)
      assert.equal(member.isLive(), false)
      const sentAt = member.now()
      member.renewed(sentAt)
      assert.equal(member.isLive(), true)
      await member.leave()
    }
    const clock = makeTestClock()
    const member = makeMember({ system: world().system, clock })
    await member.rebalance()
    clock.forward(-3_600_000)
    assert.equal(member.isLive(), true, 'a wall clock that is set back changes nothing')
    await member.leave()
  })
})

onBothDatabases('a worker', (world) => {
  test('of this machine whose process is gone is ended at once, and what it noted counts as lost', async () => {
    await addDeliveries(world(), 4)
    const { db } = world().system
    const [noted, over, later, other] = await world().deliveries()
    await leaveDead(world())
    await db.updateTable('waypost_delivery').set({ status: 'delivered' }).where('id', '=', over!.id).execute()
    await db.updateTable('waypost_delivery').set({ turn: 1 }).where('id', '=', later!.id).execute()
    await db
      .updateTable('waypost_worker')
      .set({ note: JSON.stringify([noted, over, later].map((row) => [row!.id, 0])) })
      .execute()
    const observer = makeMember(world())
    await observer.rebalance()
    assert.equal(observer.lanes.length, laneCount, 'it has the lanes')
    const rows = new Map((await world().deliveries()).map((row) => [row.id, row]))
    assert.partialDeepStrictEqual(rows.get(noted!.id), { status: 'pending', lost: 1, turn: 1, failures: 0 })
    assert.partialDeepStrictEqual(rows.get(over!.id), { status: 'delivered', lost: 0, turn: 0 })
    assert.partialDeepStrictEqual(rows.get(later!.id), { status: 'pending', lost: 0, turn: 1 })
    assert.partialDeepStrictEqual(rows.get(other!.id), { status: 'pending', lost: 0, turn: 0 })
    await observer.leave()
  })

  for (const [what, ahead] of [
    ['whose lease is over', -1],
    ['whose lease ends too far ahead, because of a wrong clock,', 3_600_000],
  ] as const) {
    test(`of another machine ${what} is ended when it has not moved for three seconds`, async () => {
      await addDeliveries(world(), 1)
      await leaveDead(world(), { place: 'elsewhere', lease_until: world().clock.now() + ahead })
      const clock = makeTestClock()
      clock.freeze()
      const observer = makeMember({ system: world().system, clock })
      await observer.rebalance()
      clock.pass(2900)
      await observer.rebalance()
      assert.deepEqual(observer.lanes, [])
      await world().system.db.updateTable('waypost_worker').set({ beat: 7 }).where('place', '=', 'elsewhere').execute()
      clock.pass(200)
      await observer.rebalance()
      clock.pass(2900)
      await observer.rebalance()
      assert.deepEqual(observer.lanes, [], 'it has moved meanwhile')
      assert.partialDeepStrictEqual(await world().deliveries(), [{ lost: 0, turn: 0 }])
      clock.pass(100)
      await observer.rebalance()
      assert.equal(observer.lanes.length, laneCount)
      assert.partialDeepStrictEqual(await world().deliveries(), [{ lost: 1, turn: 1 }])
      await observer.leave()
    })
  }

  test('of another machine with a lease is not ended, however long it does not move', async () => {
    await leaveDead(world(), { place: 'elsewhere', lease_until: world().clock.now() + 14_000 })
    const clock = makeTestClock()
    clock.freeze()
    const observer = makeMember({ system: world().system, clock })
    for (let count = 0; count < 5; count++) {
      await observer.rebalance()
      clock.pass(3000)
    }
    assert.deepEqual(observer.lanes, [])
    await observer.leave()
  })

  test('that renews its lease while an observer ends it stays', async () => {
    await addDeliveries(world(), 1)
    await leaveDead(world(), { place: 'elsewhere', lease_until: 0 })
    const { system } = world()
    const clock = makeTestClock()
    clock.freeze()
    let isBeaten = false
    const slow: World['system'] = {
      ...system,
      db: system.db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          if (isBeaten && result.rows[0]?.['expired'] !== undefined) {
            await system.db.updateTable('waypost_worker').set({ beat: 5 }).where('place', '=', 'elsewhere').execute()
          }
          return result
        },
      }),
    }
    const observer = makeMember({ system: slow, clock })
    await observer.rebalance()
    clock.pass(3000)
    isBeaten = true // after this observer has read the rows
    await observer.rebalance()
    assert.equal((await workerRows(world())).length, 2)
    assert.partialDeepStrictEqual(await world().deliveries(), [{ lost: 0, turn: 0 }])
    await observer.leave()
  })

  test('that is killed while it ends another leaves all of that or none', async () => {
    await addDeliveries(world(), 1)
    await leaveDead(world())
    for (const statement of ['DeleteQueryNode', 'delete from waypost_worker', 'update waypost_delivery set lost']) {
      const system = refuseStatements(world().system, (text) => {
        if (text.includes(statement)) throw new Error('killed')
      })
      const observer = makeMember({ system, clock: world().clock })
      await observer.rebalance().catch(() => undefined)
      const [row] = await world().deliveries()
      const isEnded = !(await workerRows(world())).some(({ id }) => id.startsWith('wrk_dead'))
      assert.equal(row!.lost, isEnded ? 1 : 0, statement)
      await observer.leave().catch(() => undefined)
    }
    const next = makeMember(world())
    await next.rebalance()
    assert.partialDeepStrictEqual(await world().deliveries(), [{ lost: 1, turn: 1 }])
    assert.ok(next.lanes.length > 0)
    await next.leave()
  })

  test('that leaves while it still compares is not taken for dead', async () => {
    await addDeliveries(world(), 1)
    const [row] = await world().deliveries()
    const { system } = world()
    let isAway = false
    const hold = holdWorkers(
      refuseStatements(system, () => {
        if (isAway) throw new Error('away')
      }),
    )
    const member = makeMember({ system: hold.system, clock: world().clock })
    await member.rebalance()
    await system.db
      .updateTable('waypost_worker')
      .set({ note: JSON.stringify([[row!.id, 0]]) })
      .execute()
    hold.isHeld = true
    const comparing = member.rebalance()
    await hold.isReading
    isAway = true
    await assert.rejects(member.leave(), /^Error: away$/) // its row is still there when the comparison goes on
    isAway = false
    hold.continue()
    await comparing
    assert.partialDeepStrictEqual(await world().deliveries(), [{ lost: 0, turn: 0 }])
  })

  test('that was ended records nothing afterwards', async () => {
    const member = makeMember(world())
    await member.rebalance()
    await world().system.db.deleteFrom('waypost_worker').execute()
    const recording = { worker: member.id!, note: '[]', completions: [], breakers: [], shard: 0 }
    assert.equal(await record(world().system, recording), undefined)
  })

  test('that reaches no host gives its lanes to others for a minute, if there are any', async () => {
    const clock = makeTestClock()
    clock.freeze()
    const isolated = makeMember({ system: world().system, clock })
    await isolated.rebalance()
    await isolated.rebalance(true)
    assert.equal(isolated.lanes.length, laneCount, 'it is alone')
    const other = makeMember({ system: world().system, clock })
    await other.rebalance()
    await isolated.rebalance(true)
    assert.deepEqual(isolated.lanes, [])
    await other.rebalance()
    assert.equal(other.lanes.length, laneCount)
    clock.pass(59_000)
    await isolated.rebalance(false)
    await other.rebalance()
    assert.deepEqual(isolated.lanes, [])
    clock.pass(1000)
    await isolated.rebalance(false)
    await other.rebalance()
    await isolated.rebalance(false)
    assert.deepEqual([isolated.lanes.length, other.lanes.length], [32, 32])
    await isolated.leave()
    await other.leave()
  })

  test('that leaves takes no lanes, and its share goes to the others', async () => {
    const [leaving, other] = [makeMember(world()), makeMember(world())]
    await leaving.rebalance()
    await other.rebalance()
    leaving.isLeaving = true
    await leaving.rebalance()
    assert.deepEqual(leaving.lanes, [])
    await other.rebalance()
    assert.equal(other.lanes.length, laneCount)
    await leaving.leave()
    await other.leave()
  })
})

/** Deliveries to subscriptions of their own. */
async function addDeliveries(world: World, count: number): Promise<void> {
  const endpoints = Array.from({ length: count }, (_, index) => `http://127.0.0.1:1/${index}`)
  await world.addSubscriptions(await world.addUser(), 'note', endpoints)
  await world.dispatch('note', 1)
  while (await fanOutChunk(world.system, world.catalog));
}

/** Lanes whose worker has a row. */
async function loadOwners({ system }: World): Promise<ReadonlyMap<number, string>> {
  const owned = system.db.selectFrom('waypost_lane').innerJoin('waypost_worker', 'id', 'worker_id')
  const rows = await owned.select(['lane', 'id']).execute()
  return new Map(rows.map(({ lane, id }) => [lane, id]))
}

function workerRows({ system }: World) {
  return system.db.selectFrom('waypost_worker').selectAll().execute()
}
