import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser } from '../../../src/auth/index.ts'
import { loadFacts } from '../../../src/store/index.ts'
import { openServeSite } from './site.ts'

test('serve has a new code at each start where it is asked for, until there is an administrator, and none if the backend is off', async () => {
  await using site = await openServeSite()
  const withCode = { makeCode: true }
  const [first, second] = [await site.start(withCode), await site.start(withCode)]
  assert.equal(first.backend?.url, 'https://api.example.com/backend')
  assert.match(first.backend?.code ?? '', /^([0-9A-Z]{4}-){6}[0-9A-Z]{4}$/)
  assert.notEqual(first.backend?.code, second.backend?.code)
  const stored = async () => (await loadFacts(site.host.system)).first_run
  const before = await stored()
  const url = 'https://api.example.com/backend'
  assert.deepEqual((await site.start()).backend, { url, hasAdministrator: false, code: undefined })
  assert.equal(await stored(), before, 'it made none that no one has seen')
  const other = await site.start({}, { WAYPOST_BACKEND_URL: 'https://admin.example.com', WAYPOST_BACKEND: 'read' })
  assert.equal(other.backend?.url, 'https://admin.example.com/backend')
  await addUser(site.host.system, { name: 'root', scopes: ['backend.admin'] })
  assert.deepEqual((await site.start(withCode)).backend, { url, hasAdministrator: true, code: undefined })
  assert.equal((await site.start({}, { WAYPOST_BACKEND: 'off' })).backend, undefined)
})

for (const [name, value, code] of [
  ['WAYPOST_BACKEND', 'yes', 'WP_SERVER_BACKEND'],
  ['WAYPOST_BACKEND_URL', 'https://admin.example.com/path', 'WP_SERVER_BACKEND_URL'],
  ['WAYPOST_BACKEND_URL', 'admin.example.com', 'WP_SERVER_BACKEND_URL'],
] as const) {
  test(`serve does not start with ${name}=${value}`, async () => {
    await using site = await openServeSite()
    await assert.rejects(site.start({}, { [name]: value }), { code })
  })
}
