import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeDispatcher } from '../../src/events/index.ts'
import { correctTimes } from '../../src/events/lanes/correct-times.ts'
import { allLanes } from '../../src/events/lanes/shares.ts'
import { runDue } from '../../src/events/run/run-due.ts'
import type { ListenerTermsOfRuns } from '../../src/events/run/run-executor.ts'
import type { RunOptions } from '../../src/events/run/run-loop.ts'
import { breakable, storeBusy } from './refusing-system.ts'
import { onBothDatabases, type World } from './world.ts'

const hour = 3_600_000
const base = { timeoutMs: 1000, retries: [hour], concurrency: 8, isExclusive: false, once: false } as const
const starts = { limit: 5, windowMs: 60_000 }
const plain: ListenerTermsOfRuns = { ...base, name: 'plain', starts: undefined }

onBothDatabases('runs of listeners when something fails', (world) => {
  test('are repeated if a later statement of the claim fails', async () => {
    const limited = { ...base, name: 'limited', starts }
    listen(world(), 'plain', 'limited')
    await world().dispatch('note', 1)
    const broken = breakable(world().system, 'waypost_throttle')
    broken.fail(1)
    const executed: string[] = []
    await runDue({ ...world(), ...terms(world(), executed, [plain, limited]), system: broken.system })
    assert.equal(broken.failed(), 1)
    assert.deepEqual(executed.toSorted(), ['limited', 'plain'])
    assert.deepEqual(
      (await runs(world())).map(({ status, lost }) => [status, lost]),
      [
        ['done', 0],
        ['done', 0],
      ],
    )
  })

  test('keep their wait if the clock of the database is set back, and a time that the action gave', async () => {
    listen(world(), 'plain')
    await world().dispatch('note', 'fresh')
    await world().dispatch('note', 'put off')
    const later = world().clock.now() + 2 * hour
    const [, other] = await runs(world())
    await world()
      .system.db.updateTable('waypost_run')
      .set({ due_at: later, scheduled_at: world().clock.now() - 2 * hour })
      .where('id', '=', other!.id)
      .execute()
    world().clock.forward(-hour)
    await correctTimes(world().system, allLanes)
    const [fresh, put] = await runs(world())
    assert.ok(fresh!.due_at <= world().clock.now())
    assert.equal(put!.due_at, later)
  })

  test('that end while the worker stops are recorded, even if that fails once', async () => {
    listen(world(), 'plain')
    await world().dispatch('note', 1)
    const broken = breakable(world().system, 'entry.latency_ms')
    const stopping = new AbortController()
    const executed: string[] = []
    const options = terms(world(), executed, [plain])
    const execute = async () => {
      broken.fail(1)
      stopping.abort()
      return { kind: 'done' as const }
    }
    const stoppable = { ...options, executor: { ...options.executor, execute } }
    await world().execute({
      system: broken.system,
      watch: true,
      signal: stopping.signal,
      runs: stoppable,
      onError: () => undefined,
    })
    assert.equal(broken.failed(), 1)
    assert.deepEqual(
      (await runs(world())).map(({ status, lost }) => [status, lost]),
      [['done', 0]],
    )
  })

  test('are recorded after a database that is busy for a while, without failing the command', async () => {
    listen(world(), 'plain')
    await world().dispatch('note', 1)
    const busy = breakable(world().system, 'entry.latency_ms', storeBusy)
    busy.fail(2)
    await world().execute({ system: busy.system, runs: terms(world(), [], [plain]) })
    assert.equal(busy.failed(), 2)
    assert.deepEqual(
      (await runs(world())).map(({ status, lost }) => [status, lost]),
      [['done', 0]],
    )
  })

  test('that a delayed event gets are executed before a worker without "watch" ends', async () => {
    listen(world(), 'plain')
    const dispatcher = makeDispatcher(world().system, world().catalog)
    await dispatcher.store([dispatcher.prepare({ event: 'note', data: 1, delay: '1h' })])
    world().clock.forward(hour)
    const executed: string[] = []
    await world().execute({ runs: terms(world(), executed, [plain]) })
    assert.deepEqual(executed, ['plain'])
  })
})

function listen(world: World, ...names: readonly string[]): void {
  world.catalog = { ...world.catalog, note: { listeners: names.map((name) => ({ name })) } }
}

function terms(world: World, executed: string[], listed: readonly ListenerTermsOfRuns[]) {
  return {
    catalog: () => world.catalog,
    settings: () => world.settings,
    listeners: () => listed,
    executor: {
      execute: async (_: unknown, { name }: ListenerTermsOfRuns) => {
        executed.push(name)
        return { kind: 'done' as const }
      },
      abort: () => undefined,
      close: async () => undefined,
    },
  } satisfies RunOptions & Record<string, unknown>
}

function runs({ system }: World) {
  return system.db.selectFrom('waypost_run').selectAll().orderBy('id').execute()
}
