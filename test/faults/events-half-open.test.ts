// PostgreSQL behind a line that swallows everything, under a worker of the built command line.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openLine, type Line } from '../support/line.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { openDeliverySite } from './delivery-site.ts'
import { until } from '../support/until.ts'

describe('a worker whose line to PostgreSQL is half open', () => {
  let postgres: TestPostgres
  let line: Line
  let url: string
  before(async () => {
    postgres = await startPostgres()
    url = await postgres.createSystem()
    line = await openLine(url)
  })
  after(async () => {
    await line.close()
    await postgres.stop()
  })

  test('ends with 1 some time after its time limit, and reports why', async () => {
    const config = { delivery_timeout: '1s' }
    await using site = await openDeliverySite({ kind: 'postgresql', url, config })
    await site.subscribe('/hook')
    await site.dispatch(1)
    const env = { WAYPOST_SYSTEM_URL: line.through(url) }
    const worker = site.startWorker(['--watch', '--time-limit', '3s', '--json'], env)
    await until('posts arrive', () => site.receiver.received.length !== 0)
    line.freeze()
    await site.dispatch(1)
    const { code, stderr, stdout } = await worker.ended
    assert.equal(code, 1, stderr)
    assert.match(stdout + stderr, /did not respond|did not answer|Cannot reach/)
    await site.execute()
    assert.ok((await site.deliveries()).every((row) => row.status === 'delivered'))
  })
})
