import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openLine } from '../../support/line.ts'
import { startPostgres } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { codeOf, openWorld, settle } from './world.ts'
import { isLong } from '../../support/forms.ts'

const leaseMs = 1200

describe('cronjobs of a server that System has lost', () => {
  for (const how of isLong ? (['cut', 'freeze'] as const) : (['freeze'] as const)) {
    test(`are aborted before another server runs the next slot: ${how}`, async () => {
      const postgres = await startPostgres()
      try {
        const url = await postgres.createSystem()
        await using line = await openDisposableLine(url)
        await using world = await openWorld(url)
        await world.deploy({ tick: '* * * * *' })
        const near = await world.open()
        const far = await world.open({ leaseMs }, { url: line.through(url) })
        await far.follow()
        await until('it is known', async () => (await world.row('tick')) !== undefined)
        let isTold = false
        world.work['tick'] = (_request, { signal }) =>
          new Promise((resolve) => {
            if (world.runs.length > 1) return resolve(undefined)
            signal.addEventListener('abort', () => resolve((isTold = true)))
          })
        world.clock.forward(1)
        await until('it runs there', () => world.runs.length === 1)
        await near.follow()
        world.clock.freeze()
        await line[how]()
        await settle()
        assert.equal(isTold, false)
        world.clock.pass(leaseMs * 0.7)
        await until('it was told to end', () => isTold)
        assert.equal(world.runs.length, 1)
        world.clock.forward(1) // over the lease, and to the next slot
        await until('the other one runs it', () => near.reports.length === 1)
        assert.deepEqual(world.runs, ['tick 2026-11-20T10:01', 'tick 2026-11-20T10:02'])
        await until('its end is told', () => far.reports.length === 1)
        assert.equal(codeOf(far.reports[0]?.error), 'WP_SERVER_CRONJOB_LOST')
        await line.cut() // or what waits for an answer would wait on
      } finally {
        await postgres.stop()
      }
    })
  }
})

async function openDisposableLine(url: string) {
  const line = await openLine(url)
  return { ...line, [Symbol.asyncDispose]: () => line.close() }
}
