import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { defaultKinds } from '../support/forms.ts'
import { describeSystems } from '../support/project-server.ts'
import { openShop, type RowWorld } from './row-world.ts'

const ann = '0192f0c1-0000-7000-8000-000000000001'
const bo = '0192f0c1-0000-7000-8000-000000000002'

describeSystems('rows in the admin API', defaultKinds, ({ kind, newSystem }) => {
  let world: RowWorld
  before(async () => {
    world = await openShop(await newSystem())
  })
  after(() => world[Symbol.asyncDispose]())

  const row = (table: string, key: readonly unknown[]) =>
    `/table/System/${table}/row/${encodeURIComponent(JSON.stringify(key))}`

  test('a table is described, with what refers to it and what it refers to', async () => {
    const { body, status, text } = await world.call('GET /table/System/shop_order')
    assert.equal(status, 200, text)
    assert.deepEqual(body.key, ['id'])
    assert.deepEqual(body.references, [{ columns: ['customer_id'], table: 'shop_customer', to: ['id'] }])
    assert.deepEqual(body.referring, [{ columns: ['order_id'], table: 'shop_line', to: ['id'], on_delete: null }])
    assert.deepEqual(body.fixed, { insert: null, change: null, delete: null })
    assert.deepEqual(
      body.columns.map(({ name, type, operators }: any) => [name, type, operators.length]), // oxlint-disable-line typescript/no-explicit-any
      [
        // in the order of the database
        ['id', 'id', 6],
        ['customer_id', 'uuid', 2],
        ['total', 'number', 6],
        ['count', 'bigint', 0], // the name of a parameter
        ['day', 'date', 7],
        ['at', 'timestamp', 7],
        ['meta', 'json', 1],
      ],
    )
  })

  test('a table with a search is searched by words', async () => {
    assert.deepEqual((await world.call('GET /table/System/shop_order')).body.search, [])
    assert.deepEqual((await world.call('GET /table/System/shop_customer')).body.search, ['name'])
    const customer = { id: bo, email: 'bo@example.com', name: 'Bo of the fire brigade' }
    const added = await world.call('POST /table/System/shop_customer/row', customer)
    const found = async (q: string) => {
      const { body } = await world.call(`GET /table/System/shop_customer/row?filter=${encodeURIComponent(`q=${q}`)}`)
      return body.entry.length
    }
    assert.deepEqual([await found('FIRE brig*'), await found('water')], [1, 0])
    await world.call(`DELETE ${row('shop_customer', [bo])}`, undefined, { 'if-match': added.body.etag })
    const audit = await world.call(`GET /audit?subject=System.shop_customer&subject_id=${bo}`)
    assert.deepEqual(
      audit.body.entry.map(({ action }: { action: string }) => action),
      ['row.delete', 'row.add'],
    )
  })

  test('rows are added, changed and deleted, with their exact values', async () => {
    const customer = { id: ann, email: 'ann@example.com' }
    const added = await world.call('POST /table/System/shop_customer/row', customer)
    assert.equal(added.status, 201, added.text)
    assert.deepEqual(added.body.values, { ...customer, name: null, active: true })
    const order = {
      customer_id: ann,
      total: 1.5,
      count: '9007199254740993',
      day: '2026-11-29',
      at: '2026-11-29T10:00:00.000Z',
      meta: '{"big":1.10,"list":[1,null]}',
    }
    const placed = await world.call('POST /table/System/shop_order/row', order)
    assert.equal(placed.status, 201, placed.text)
    const { id, meta, ...rest } = placed.body.values
    const { meta: _, ...sent } = order
    assert.deepEqual(rest, sent)
    assert.deepEqual(JSON.parse(meta), { big: 1.1, list: [1, null] })
    const changed = await world.call(
      `PATCH ${row('shop_order', [id])}`,
      { day: null, total: 2 },
      { 'if-match': placed.body.etag },
    )
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual([changed.body.values.day, changed.body.values.total], [null, 2])
    const listed = await world.call('GET /table/System/shop_order/row')
    assert.deepEqual(listed.body, { entry: [changed.body], next: null })
    const refused = await world.call(`DELETE ${row('shop_customer', [ann])}`, undefined, {
      'if-match': added.body.etag,
    })
    assert.equal(refused.status, 409, refused.text)
    const gone = await world.call(`DELETE ${row('shop_order', [id])}`, undefined, { 'if-match': changed.body.etag })
    assert.equal(gone.status, 204, gone.text)
    const again = await world.call(`DELETE ${row('shop_order', [id])}`, undefined, { 'if-match': changed.body.etag })
    assert.equal(again.status, 404)
  })

  test('a change of a row that is not as the caller knows it is refused with the current row', async () => {
    await world.run(`insert into shop_customer (id, email) values ('${bo}', 'bo@example.com')`)
    const { body } = await world.call(`GET /table/System/shop_customer/row?filter=id%3D${bo}`)
    const [{ etag }] = body.entry
    await world.run(`update shop_customer set name = 'Bo' where id = '${bo}'`)
    for (const line of [`PATCH ${row('shop_customer', [bo])}`, `DELETE ${row('shop_customer', [bo])}`]) {
      const answer = await world.call(line, line.startsWith('PATCH') ? { name: 'Bob' } : undefined, {
        'if-match': etag,
      })
      assert.equal(answer.status, 412, answer.text)
      assert.equal(answer.body.current.values.name, 'Bo')
      const without = await world.call(line, line.startsWith('PATCH') ? { name: 'Bob' } : undefined)
      assert.equal(without.status, 428, without.text)
    }
  })

  test('problems name the column', async () => {
    for (const [values, status, path] of [
      [{ email: 'bo@example.com', id: '0192f0c1-0000-7000-8000-000000000009' }, 409, 'body/email'],
      [{ email: 5, id: ann }, 400, 'body/email'],
      [{ id: '0192f0c1-0000-7000-8000-00000000000a' }, 400, 'body/email'],
      [{ email: 'x', id: ann, extra: 1 }, 400, 'body/extra'],
    ] as const) {
      const answer = await world.call('POST /table/System/shop_customer/row', values)
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.body.errors[0].path, path, answer.text)
    }
    const missing = await world.call('POST /table/System/shop_order/row', {
      customer_id: '0192f0c1-0000-7000-8000-00000000000f',
    })
    assert.equal(missing.status, 409, missing.text)
    const json = await world.call('POST /table/System/shop_order/row', { customer_id: ann, meta: '{' })
    assert.equal(json.status, 400, json.text)
  })

  test('lists are filtered, sorted and divided into pages, and counted only on demand', async () => {
    const values = Array.from({ length: 5 }, (_, index) => `('log ${index}', ${index % 2})`)
    await world.run(`insert into shop_log (text, at) values ${values.join(', ')}`)
    const listed = async (filter: string, more = '') => {
      const { body, status, text } = await world.call(
        `GET /table/System/shop_log/row?filter=${encodeURIComponent(filter)}${more}`,
      )
      assert.equal(status, 200, text)
      return { texts: body.entry.map((one: { values: { text: string } }) => one.values.text), next: body.next }
    }
    assert.deepEqual((await listed('at=1')).texts, ['log 1', 'log 3'])
    assert.deepEqual((await listed('at=1&sort=-text')).texts, ['log 3', 'log 1'])
    assert.deepEqual((await listed('text.contains=g 4')).texts, ['log 4'])
    const first = await listed('sort=-text', '&limit=2')
    assert.deepEqual(first.texts, ['log 4', 'log 3'])
    const second = await listed('sort=-text', `&limit=2&cursor=${first.next}`)
    assert.deepEqual(second.texts, ['log 2', 'log 1'])
    const { body } = await world.call('GET /table/System/shop_log/count?filter=at%3D0')
    assert.deepEqual(body, { count: 3 })
    const wrong = await world.call('GET /table/System/shop_log/row?filter=nothing%3D0')
    assert.equal(wrong.status, 400)
  })

  test('rows of a table without a key are changed by where the database stores them, those of a view not at all', async () => {
    const { body: described } = await world.call('GET /table/System/shop_log')
    assert.equal(described.internal, kind === 'sqlite' ? 'rowid' : 'ctid')
    const { body } = await world.call('GET /table/System/shop_log/row?filter=text%3Dlog+2')
    const [{ etag, values }] = body.entry
    const line = `PATCH ${row('shop_log', [values[described.internal]])}`
    const changed = await world.call(line, { text: 'two' }, { 'if-match': etag })
    assert.equal(changed.status, 200, changed.text)
    assert.equal(changed.body.values.text, 'two')
    assert.notEqual((await world.call(line, { text: 'three' }, { 'if-match': etag })).status, 200)
    const view = await world.call('GET /table/System/shop_total/row?filter=sort%3Demail')
    assert.equal(view.status, 200, view.text)
    assert.equal(view.body.entry.length, 2)
    const added = await world.call('POST /table/System/shop_total/row', { email: 'x' })
    assert.equal(added.status, 409, added.text)
  })

  test('tables of Waypost and unknown ones do not exist', async () => {
    for (const table of ['waypost_user', 'WAYPOST_USER', 'nothing', '__proto__', 'constructor']) {
      const answer = await world.call(`GET /table/System/${table}/row`)
      assert.equal(answer.status, 404, answer.text)
    }
    assert.equal((await world.call('GET /table/Other/shop_order/row')).status, 404)
  })

  test('changes are in the audit log with table, key and columns, without values', async () => {
    const { body } = await world.call('GET /audit?kind=row')
    const log = body.entry.map((one: any) => [one.action, one.subject.name, one.subject.id, one.after?.columns]) // oxlint-disable-line typescript/no-explicit-any
    assert.ok(
      log.some(([action, name, id, columns]: unknown[]) => {
        return action === 'row.add' && name === 'System.shop_customer' && id === ann && String(columns) === 'id,email'
      }),
      JSON.stringify(log),
    )
    const actions = log.map(([action]: string[]) => action)
    assert.deepEqual(actions, ['row.change', 'row.delete', 'row.change', 'row.add', 'row.add', 'row.delete', 'row.add'])
    assert.doesNotMatch(JSON.stringify(body), /example\.com|2026-11-29T10:00:00\.000Z"[^,]*meta/)
  })
})
