import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { baseUrl, makeHost, secret } from '../e2e/serving.ts'
import { openLine } from '../support/line.ts'
import { abortTimeoutMs } from '../support/until.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'

let postgres: TestPostgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres.stop())

test('a server stops on SIGTERM even if its database connection is dead', async () => {
  const url = await postgres.createSystem()
  const line = await openLine(url)
  const host = await makeHost({
    WAYPOST_SYSTEM_URL: line.through(url),
    WAYPOST_SECRET: secret,
    WAYPOST_BASE_URL: baseUrl,
    HOST: '127.0.0.1',
  })
  try {
    await host.ok('migrate')
    const running = host.start('serve --port 0')
    await running.waitFor(/Serving {4}http/)
    line.freeze()
    const tooLate = setTimeout(() => process.kill(running.pid, 'SIGKILL'), abortTimeoutMs)
    const { code, stdout, stderr } = await running.stop()
    clearTimeout(tooLate)
    assert.equal(code, 0, `it ended by ${code}\n${stdout}${stderr}`)
  } finally {
    await line.close()
    await host.remove()
  }
})
