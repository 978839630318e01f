import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addHostUser, changeHostUserScopes } from '../../src/operate/index.ts'
import { asCommand } from '../support/server.ts'
import { allScopes } from './admin.ts'
import { openShop } from './row-world.ts'

const requests = [
  'GET /table/System/shop_customer',
  'GET /table/System/shop_customer/row',
  'GET /table/System/shop_customer/count',
  'POST /table/System/shop_customer/row',
  'PATCH /table/System/shop_customer/row/%5B1%5D',
  'DELETE /table/System/shop_customer/row/%5B1%5D',
] as const

const bodyOf = (line: string) => (line.startsWith('P') ? {} : undefined)

test('rows need the scope backend.data, which no other scope includes and only its holders can give', async () => {
  await using world = await openShop('sqlite:system.db')
  const others = await world.as(
    'admin',
    allScopes.filter((scope) => scope !== 'backend.data'),
  )
  for (const line of requests) assert.equal((await others(line, bodyOf(line))).status, 403, line)
  const grant = { name: 'cy', scopes: ['backend.data'] }
  const refused = await others('POST /user', grant)
  assert.equal(refused.status, 403, refused.text)
  assert.match(refused.text, /WP_SERVER_GRANT/)
  const { body } = await others('GET /user/admin')
  const own = await others(`PATCH /user/admin`, { scopes: [...body.scopes, 'backend.data'] })
  assert.equal(own.status, 403, own.text)
  const holder = await world.as('holder', allScopes)
  assert.equal((await holder('POST /user', grant)).status, 201)
  const command = asCommand(world.server.host)
  const { scopes } = await addHostUser(command, { name: 'di', scopes: [], admin: true, password: 'correct horse 1' })
  assert.ok(scopes.includes('backend.data'))
  await changeHostUserScopes(command, { name: 'admin', add: ['backend.data'], remove: [] })
})

test('a server shows rows only if its environment says so', async () => {
  await using world = await openShop('sqlite:system.db', {})
  for (const line of requests) {
    const answer = await world.call(line, bodyOf(line))
    assert.equal(answer.status, 403, line)
    assert.match(answer.text, /WP_BACKEND_DATA_OFF.*Set WAYPOST_BACKEND_DATA=on/)
  }
  const others = await world.as('admin', ['backend.read'])
  const answer = await others('GET /table/System/shop_customer')
  assert.doesNotMatch(answer.text, /WAYPOST_BACKEND_DATA/)
  assert.equal((await others('GET /table')).status, 200)
})
