import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimSlot } from '../../../src/jobs/cronjobs/claim.ts'
import { loadLedger } from '../../../src/host/cronjobs/ledger.ts'
import { listHostCronjobRuns } from '../../../src/operate/index.ts'
import { until } from '../../support/until.ts'
import { everyMinute, known, openReleased, settle, type World } from './world.ts'
import { describeSystems } from '../../support/project-server.ts'
import { chooseKinds } from '../../support/forms.ts'

describeSystems('slots of cronjobs', chooseKinds('postgresql'), ({ newSystem }) => {
  const open = async (cronjobs?: Parameters<World['deploy']>[0]) => openReleased(await newSystem(), cronjobs)

  test('of two servers exactly one runs each slot, for many slots', async () => {
    await using world = await open()
    const machines = [await world.open(), await world.open()]
    await Promise.all(machines.map((machine) => machine.follow()))
    await known(world)
    const expected: string[] = []
    for (let minute = 1; minute <= 40; minute++) {
      world.clock.forward(1)
      expected.push(`tick 2026-11-20T10:${String(minute).padStart(2, '0')}`)
      await until(`slot ${minute}`, async () => {
        const row = await world.row('tick')
        return world.runs.length >= minute && row?.claim_id === null
      })
    }
    await settle()
    assert.deepEqual(world.runs, expected)
    const reports = machines.flatMap((machine) => machine.reports)
    assert.equal(reports.length, 40)
    assert.deepEqual([...new Set(reports.map(({ outcome }) => outcome))], ['done'])
    assert.deepEqual(
      machines.flatMap((machine) => machine.errors),
      [],
    )
  })

  test('of twenty concurrent claims one gets the slot', async () => {
    await using world = await open()
    const machines = [await world.open(), await world.open()]
    const set = await machines[0]!.follow()
    await known(world)
    await machines[0]!.cron.stop()
    for (let round = 0; round < 10; round++) {
      world.clock.forward(2)
      const { now, rows } = await loadLedger(world.host.system)
      const row = rows.get('tick')!
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          claimSlot(machines[index % 2]!.host.system, { releaseId: set.releaseId, row, slot: now, leaseMs: 1000 }),
        ),
      )
      assert.equal(claims.filter((claim) => claim !== undefined).length, 1)
    }
  })

  test('a cronjob that is new waits for its next slot', async () => {
    await using world = await open({ nightly: '0 4 * * *' })
    const machine = await world.open()
    await machine.follow()
    await known(world, 'nightly')
    await settle()
    assert.deepEqual(world.runs, [])
    world.clock.set('2026-11-21T04:00:00Z')
    await until('it ran', () => machine.reports.length === 1)
    assert.deepEqual(world.runs, ['nightly 2026-11-21T04:00'])
  })

  test('slots missed while no process ran are run once', async () => {
    await using world = await open({ tick: everyMinute, nightly: '0 4 * * *', yearly: '0 0 1 1 *' })
    const before = await world.open()
    await before.follow()
    await known(world)
    await before.close()
    world.clock.set('2026-11-24T12:34:56Z')
    const machine = await world.open()
    await machine.follow()
    await until('both ran', () => machine.reports.length === 2)
    await settle()
    assert.deepEqual(world.runs.toSorted(), ['nightly 2026-11-24T04:00', 'tick 2026-11-24T12:34'])
  })

  test('a server that starts from now on leaves them out', async () => {
    await using world = await open()
    const before = await world.open()
    await before.follow()
    await known(world)
    await before.close()
    world.clock.forward(60)
    const machine = await world.open({ fromNow: true })
    await machine.follow()
    const start = Date.parse('2026-11-20T11:00:30Z')
    await until('it has looked', async () => (await world.row('tick'))?.slot_at === start)
    await settle()
    assert.deepEqual(world.runs, [])
    world.clock.forward(1)
    await until('the next one ran', () => world.runs.length === 1)
    world.clock.forward(1)
    await until('and the one after it', () => world.runs.length === 2)
  })

  test('runs of a cronjob never overlap: slots that become due during a run are one run directly after it', async () => {
    await using world = await open()
    let running = 0
    let most = 0
    const gates: (() => void)[] = []
    world.work['tick'] = async () => {
      running++
      most = Math.max(most, running)
      await new Promise<void>((resolve) => gates.push(resolve))
      running--
    }
    const machines = [await world.open(), await world.open()]
    await Promise.all(machines.map((machine) => machine.follow()))
    await known(world)
    world.clock.forward(1)
    await until('it runs', () => gates.length === 1)
    for (let minute = 0; minute < 5; minute++) {
      world.clock.forward(0.1)
      await settle()
    }
    world.clock.set('2026-11-20T10:02:20Z')
    await settle()
    assert.equal(world.runs.length, 1)
    gates[0]!()
    await until('it runs again', () => gates.length === 2)
    assert.deepEqual(world.runs, ['tick 2026-11-20T10:01', 'tick 2026-11-20T10:02'])
    gates[1]!()
    await settle()
    assert.equal(world.runs.length, 2)
    assert.equal(most, 1)
  })

  test('a server that is gone keeps its slot, and blocks the next ones no longer than its lease', async () => {
    await using world = await open()
    const gone = await world.open()
    const set = await gone.follow()
    await known(world)
    await gone.cron.stop()
    world.clock.set('2026-11-20T10:01:00.500Z')
    const { rows } = await loadLedger(world.host.system)
    const slot = Date.parse('2026-11-20T10:01:00Z')
    // As a process that dies right after its claim.
    const claiming = { releaseId: set.releaseId, row: rows.get('tick')!, slot, leaseMs: 60_000 }
    assert.ok(await claimSlot(world.host.system, claiming))
    const machine = await world.open()
    await machine.follow()
    await settle()
    world.clock.set('2026-11-20T10:02:00Z')
    await settle()
    assert.deepEqual(world.runs, [], 'its lease still runs')
    world.clock.set('2026-11-20T10:02:01Z')
    await until('the next slot ran', () => machine.reports.length === 1)
    assert.deepEqual(world.runs, ['tick 2026-11-20T10:02'])
    const { failures, outcome } = (await world.row('tick'))!
    assert.deepEqual({ failures, outcome }, { failures: 0, outcome: 'done' })
    assert.ok(machine.logs.some(({ msg }) => String(msg).includes('previous run of cronjob lost')))
    const states = (await listHostCronjobRuns(world.host, 'tick')).map(({ state, finishedAt, error }) => [
      state,
      finishedAt !== undefined,
      error?.replace(/server \S+/, 'server'),
    ])
    assert.deepEqual(states, [
      ['done', true, undefined],
      ['lost', false, 'The server was lost during the run'],
    ])
  })

  test('servers that read other schedules out of one release are named, once', async () => {
    await using world = await open({ tick: '*/${env.EVERY} * * * *', steady: everyMinute })
    const machines = [
      await world.open({}, { variables: { EVERY: '5' } }),
      await world.open({}, { variables: { EVERY: '10' } }),
    ]
    const named = () =>
      machines.map(({ logs }) => logs.filter(({ msg }) => /disagree about the schedule/.test(String(msg))))
    await machines[0]!.follow()
    await known(world)
    await settle()
    assert.deepEqual(named(), [[], []], 'a new release is no conflict')
    await machines[1]!.follow()
    await until('both say it', () => named().every((lines) => lines.length > 0))
    await settle()
    const seen = named().map((lines) => lines.map(({ cronjob, here, there }) => [cronjob, here, there]))
    assert.deepEqual(seen, [
      [['tick', '*/5 * * * * (UTC)', '*/10 * * * * (UTC)']],
      [['tick', '*/10 * * * * (UTC)', '*/5 * * * * (UTC)']],
    ])
  })

  test('another release: its cronjobs are followed, a run keeps the resources it started with, and old rows are deleted', async () => {
    await using world = await open({ tick: everyMinute, old: '0 * * * *' })
    const gate = Promise.withResolvers<void>()
    world.work['tick'] = () => gate.promise
    const machine = await world.open()
    const first = await machine.follow()
    await known(world, 'old')
    world.clock.forward(1)
    await until('it runs', () => world.runs.length === 1)
    await world.deploy({ fresh: everyMinute })
    await machine.follow()
    await known(world, 'fresh')
    await until('old is gone', async () => (await world.row('old')) === undefined)
    assert.notEqual(await world.row('tick'), undefined, 'it still runs')
    let isClosed = false
    void first.close().then(() => (isClosed = true))
    await settle()
    assert.equal(isClosed, false)
    gate.resolve()
    await until('it ended', () => machine.reports.length === 1)
    assert.equal(machine.reports[0]?.outcome, 'done')
    await until('what it used was given back', () => isClosed)
    await until('tick is gone', async () => (await world.row('tick')) === undefined)
    world.clock.forward(1)
    await until('the new one runs', () => world.runs.length === 2)
    assert.match(world.runs[1]!, /^fresh/)
  })

  test('a server of a release that is not active runs no cronjobs', async () => {
    await using world = await open()
    const behind = await world.open()
    await behind.follow()
    await known(world)
    await world.deploy({ tick: everyMinute, more: everyMinute })
    world.clock.forward(1)
    await settle()
    assert.deepEqual(world.runs, [])
    assert.equal(await world.row('more'), undefined)
    const current = await world.open()
    await current.follow()
    await until('the slot is run by the other one', () => current.reports.length === 1)
    assert.deepEqual(behind.reports, [])
  })

  test('a new schedule applies from now on, regardless of the previous one', async () => {
    await using world = await open({ job: '0 9 * * *' })
    const machine = await world.open()
    await machine.follow()
    await known(world, 'job')
    await world.deploy({ job: '0 10 * * *' })
    await machine.follow()
    await until('it is known', async () => (await world.row('job'))?.schedule === '0 10 * * *')
    await settle()
    assert.deepEqual(world.runs, [], '10:00 is over')
    world.clock.set('2026-11-21T10:00:00Z')
    await until('it ran', () => world.runs.length === 1)
  })

  test('a database clock that was far ahead does not stop cronjobs permanently', async () => {
    await using world = await open()
    const machine = await world.open()
    await machine.follow()
    await known(world)
    world.clock.set('2030-01-01T00:00:30Z')
    await until('it ran', () => machine.reports.length === 1)
    world.clock.set('2026-11-20T10:05:30Z')
    await until('it counts again', async () => (await world.row('tick'))!.slot_at < Date.parse('2027-01-01'))
    world.clock.forward(1)
    await until('it ran', () => machine.reports.length === 2)
    assert.equal(world.runs[1], 'tick 2026-11-20T10:06')
  })

  test('a slot is run at its time, independent of the interval at which System is read', async () => {
    await using world = await open()
    world.clock.start('2026-11-20T10:00:58.800Z')
    const machine = await world.open({ maxWaitMs: 3_600_000 })
    await machine.follow()
    await known(world)
    const ran: string[] = []
    world.work['tick'] = async (_request, context) => ran.push(context.now().toISOString())
    await until('it ran', () => machine.reports.length === 1)
    assert.ok(ran[0]! >= '2026-11-20T10:01:00', ran[0])
  })
})
