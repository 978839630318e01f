import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportServer } from '../../../src/host/report-server.ts'
import { until } from '../../support/until.ts'
import { openServeSite } from './site.ts'

test('the row of a server names the currently set variables, without values and without those of Waypost', async () => {
  await using site = await openServeSite()
  let now: Record<string, string> = { WAYPOST_SECRET: 'hidden value', ORDERS_URL: 'hidden value', EMPTY: '' }
  const identity = { secrets: { keyIds: [] }, issuer: 'https://api.example.com' }
  const host = { ...site.host, environment: { ...now } }
  const report = await reportServer(host, identity, { intervalMs: 20, readVariables: () => now })
  const row = () => site.host.system.db.selectFrom('waypost_server').selectAll().executeTakeFirstOrThrow()
  assert.equal((await row()).variables, 'ORDERS_URL')
  now = { ...now, LIMIT: 'hidden value' }
  await until('the new name', async () => (await row()).variables === 'LIMIT ORDERS_URL')
  assert.doesNotMatch(JSON.stringify(await row()), /hidden value/)
  await report.stop()
})
