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
  'GET /table/System/shop_customer/export',
  'POST /table/System/shop_customer/import',
] as const

const bodyOf = (line: string) => (line.startsWith('P') && !line.endsWith('import') ? {} : undefined)

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

test('rows of other connections are shown too, and their changes are audited in System', async () => {
  await using world = await openShop('sqlite:system.db', undefined, {
    'waypost.yml': 'routes: {}\nconnection:\n  Extra: { class: sqlite, config: { file: extra.db } }\n',
    'migrations/Extra/0001-note.yml': 'create_table: { note: { columns: { id: id, text: text } } }\n',
  })
  const added = await world.call('POST /table/Extra/note/row', { text: 'hello' })
  assert.equal(added.status, 201, added.text)
  const line = '/table/Extra/note/row/%5B1%5D'
  const changed = await world.call(`PATCH ${line}`, { text: 'bye' }, { 'if-match': added.body.etag })
  assert.equal(changed.body.values.text, 'bye', changed.text)
  assert.equal((await world.call(`DELETE ${line}`, undefined, { 'if-match': added.body.etag })).status, 412)
  const file = await world.call('POST /table/Extra/note/import', 'text\none\ntwo\n', { 'content-type': 'text/csv' })
  assert.match(file.text, /"kind":"done","rows":2/)
  const { body } = await world.call('GET /audit?kind=row')
  assert.deepEqual(
    body.entry.map(({ action, subject }: { action: string; subject: object }) => [action, subject]),
    [
      ['row.import', { id: null, name: 'Extra.note' }],
      ['row.change', { id: '1', name: 'Extra.note' }],
      ['row.add', { id: '1', name: 'Extra.note' }],
    ],
  )
})

test('tables of Waypost in a schema and those of a connection that the release no longer has do not exist', async () => {
  const table = { columns: { id: { type: 'uuid' }, name: { type: 'text' } }, key: ['id'] }
  const tables = { note: table, 'main.waypost_user': { schema: 'main', ...table } }
  const text = JSON.stringify({ migrations: {}, tables })
  await using world = await openShop('sqlite:system.db', undefined, {
    'migrations/System/tables.json': text,
    'migrations/Gone/tables.json': text,
  })
  for (const place of ['System/main.waypost_user', 'Gone/note']) {
    const answer = await world.call(`GET /table/${place}/row`)
    assert.equal(answer.status, 404, answer.text)
  }
})
