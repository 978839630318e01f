import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { claimSlot } from '../../../src/jobs/cronjobs/claim.ts'
import { loadLedger } from '../../../src/host/cronjobs/ledger.ts'
import { listHostCronjobRuns } from '../../../src/operate/index.ts'
import { until } from '../../support/until.ts'
import { codeOf, everyMinute, known, openReleased, settle, type World } from './world.ts'
import { describeSystems } from '../../support/project-server.ts'
import { chooseKinds } from '../../support/forms.ts'

describeSystems('runs of cronjobs', chooseKinds('postgresql'), ({ newSystem }) => {
  const open = async (cronjobs?: Parameters<World['deploy']>[0]) => openReleased(await newSystem(), cronjobs)

  test('a cronjob that throws has failed until it ends well; its slot is not repeated', async () => {
    await using world = await open()
    let isGood = false
    world.work['tick'] = async (_request, context) => {
      await context.dispatch('happened', { good: isGood })
      if (!isGood) throw new Error('no good')
    }
    const machine = await world.open()
    await machine.follow()
    await known(world)
    for (const failures of [1, 2]) {
      world.clock.forward(1)
      await until('it failed', async () => (await world.row('tick'))?.failures === failures)
    }
    const { outcome, error, claim_id: claim } = (await world.row('tick'))!
    assert.deepEqual({ outcome, error, claim }, { outcome: 'failed', error: 'no good', claim: null })
    const runs = await listHostCronjobRuns(world.host, 'tick')
    assert.deepEqual(
      runs.map((run) => [run.state, run.error]),
      [
        ['failed', 'no good'],
        ['failed', 'no good'],
      ],
    )
    assert.ok(runs[0]!.slotAt - runs[1]!.slotAt === 60_000)
    await settle()
    assert.equal(world.runs.length, 2)
    assert.deepEqual(await countMessages(world), 0)
    isGood = true
    world.clock.forward(1)
    await until('it is well', async () => (await world.row('tick'))?.outcome === 'done')
    assert.deepEqual([(await world.row('tick'))?.failures, (await world.row('tick'))?.error], [0, null])
    assert.deepEqual(await countMessages(world), 1)
    assert.deepEqual(
      machine.reports.map(({ outcome }) => outcome),
      ['failed', 'failed', 'done'],
    )
  })

  test('a response of 400 or more is a failure too', async () => {
    await using world = await open()
    world.work['tick'] = async (_request, context) => context.respond(409, {})
    const machine = await world.open()
    await machine.follow()
    await known(world)
    world.clock.forward(1)
    await until('it failed', () => machine.reports.length === 1)
    assert.match(String(machine.reports[0]?.error), /returned status 409/)
  })

  test('the result of an action is dropped, and a stream is released', async () => {
    await using world = await open()
    const stream = new Readable({ read: () => undefined })
    world.work['tick'] = async () => stream
    const machine = await world.open()
    await machine.follow()
    await known(world)
    world.clock.forward(1)
    await until('it ran', () => machine.reports.length === 1)
    assert.equal(machine.reports[0]?.outcome, 'done')
    assert.equal(stream.destroyed, true)
  })

  test('an action gets a context without a principal, the slot, a log, and System', async () => {
    await using world = await open()
    const seen: unknown[] = []
    world.work['tick'] = async (request, context) => {
      const { count } = await context.transaction('System', async (db) =>
        db
          .selectFrom('waypost_cronjob')
          .select((row) => row.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow(),
      )
      context.log.info('a word')
      const { method, url, params, query, body } = request
      seen.push({ method, url, params, query, body }, context.principal, count, context.now().toISOString())
    }
    const machine = await world.open()
    await machine.follow()
    await known(world)
    world.clock.forward(1)
    await until('it ran', () => machine.reports.length === 1)
    const params = { cronjob: 'tick', slot: '2026-11-20T10:01:00.000Z' }
    assert.deepEqual(seen, [
      { method: 'CRON', url: 'cronjob:tick', params, query: {}, body: undefined },
      undefined,
      1,
      '2026-11-20T10:01:30.000Z',
    ])
    const line = machine.logs.find(({ msg }) => msg === 'a word')
    assert.equal(line?.['cronjob'], 'tick')
    assert.match(String(line?.['run']), /^run_/)
  })

  test('a run that exceeds its timeout is aborted and has failed', async () => {
    await using world = await open({ tick: { schedule: everyMinute, timeout: '1s' } })
    world.work['tick'] = async (_request, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    const machine = await world.open()
    await machine.follow()
    await known(world)
    world.clock.forward(1)
    await until('it failed', () => machine.reports.length === 1)
    const { error, ms } = machine.reports[0]!
    assert.equal(codeOf(error), 'WP_SERVER_CRONJOB_TIMEOUT')
    assert.ok(ms > 950, `${ms} ms`)
    world.clock.forward(1)
    await until('the next slot comes', () => world.runs.length === 2)
  })

  test('the lease of a long run is renewed; a run that lost its claim is aborted', async () => {
    await using world = await open()
    let signal: AbortSignal | undefined
    world.work['tick'] = async (_request, context) => {
      signal = context.signal
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
    }
    world.clock.freeze() // a machine that is slow does not lose it
    const machine = await world.open({ leaseMs: 400 })
    await machine.follow()
    await known(world)
    world.clock.forward(1)
    await until('it runs', () => signal !== undefined)
    const first = (await world.row('tick'))!.lease_until!
    world.clock.forward(0.001)
    await until('it is prolonged', async () => (await world.row('tick'))!.lease_until! > first)
    assert.equal(signal!.aborted, false)
    await world.host.system.db.updateTable('waypost_cronjob').set({ claim_id: 'run_ANOTHER' }).execute()
    await until('it was told', () => machine.reports.length === 1)
    assert.equal(codeOf(machine.reports[0]?.error), 'WP_SERVER_CRONJOB_LOST')
    assert.equal((await world.row('tick'))?.claim_id, 'run_ANOTHER', 'what the other one does is left alone')
  })

  test('a lease that a wrong clock made far too long expires after the normal time', async () => {
    await using world = await open()
    const before = await world.open()
    const set = await before.follow()
    await known(world)
    await before.close()
    const ahead = 3 * 24 * 60
    world.clock.forward(ahead)
    const { now, rows } = await loadLedger(world.host.system)
    const claiming = { releaseId: set.releaseId, row: rows.get('tick')!, slot: now, leaseMs: 60_000 }
    assert.ok(await claimSlot(world.host.system, claiming)) // and its server dies
    world.clock.forward(-ahead)
    const machine = await world.open()
    await machine.follow()
    await until('it is mended', async () => (await world.row('tick'))!.lease_until! < now)
    world.clock.forward(0.9)
    await settle()
    assert.deepEqual(world.runs, [], 'a server that is still there has its time to say so')
    world.clock.forward(0.2)
    await until('it runs again', () => machine.reports.length === 1)
    assert.deepEqual(world.runs, ['tick 2026-11-20T10:01'])
  })

  test('a stopping process tells runs to end, and abandons one that does not', async () => {
    await using world = await open({ kind: everyMinute, deaf: everyMinute })
    world.work['kind'] = (_request, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
    world.work['deaf'] = () => new Promise(() => undefined)
    const machine = await world.open({ graceMs: 50, abortTimeoutMs: 100 })
    await machine.follow()
    await known(world, 'deaf')
    world.clock.forward(1)
    await until('both run', () => world.runs.length === 2)
    await machine.close()
    assert.deepEqual(Object.fromEntries(machine.reports.map(({ name, error }) => [name, codeOf(error)])), {
      kind: 'WP_SERVER_CRONJOB_STOPPED',
      deaf: 'WP_SERVER_CRONJOB_STOPPED',
    })
    const { outcome, claim_id: claim } = (await world.row('deaf'))!
    assert.deepEqual({ outcome, claim }, { outcome: 'failed', claim: null })
  })

  test('stopping waits for runs in progress', async () => {
    await using world = await open()
    const gate = Promise.withResolvers<void>()
    world.work['tick'] = () => gate.promise
    const machine = await world.open()
    await machine.follow()
    await known(world)
    world.clock.forward(1)
    await until('it runs', () => world.runs.length === 1)
    let isStopped = false
    const stopped = machine.close().then(() => (isStopped = true))
    world.clock.forward(1)
    await settle()
    assert.equal(isStopped, false)
    gate.resolve()
    await stopped
    assert.equal(world.runs.length, 1)
    assert.equal((await world.row('tick'))?.outcome, 'done')
  })
})

async function countMessages({ host }: World): Promise<number> {
  const { count } = await host.system.db
    .selectFrom('waypost_message')
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
