import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { compareManifests } from '../../src/release/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { describeSystems, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const migration = `create_table:
  app_order:
    columns:
      id: id
      user_id: uuid
      sku: text(20)
      total: integer
      note: { type: text, null: true }
      data: { type: json, null: true }
      version: { type: integer, default: 1 }
    unique: [[user_id, sku]]
`
const yaml = `
event:
  order_saved:
    scopes: []
    schema:
      type: object
      required: [id, total]
      properties: { id: { type: integer }, total: { type: integer, maximum: 100 } }
      additionalProperties: false
  order_changed: { scopes: [] }
action:
  Data: { class: sql-table, config: { table: app_order, columns: [id, data], write: [sku], owner: user_id } }
  Orders: { class: sql-table, config: { table: app_order, columns: [id, sku, total, note, version], bulk: 500, csv: true, owner: user_id, version: version } }
  Saved: { class: sql-table, config: { table: app_order, columns: [id, sku, total, note, version], bulk: 500, upsert: [sku], owner: user_id, version: version } }
routes:
  /order:
    scopes: [order]
    methods:
      GET: { action: Orders }
      POST: { action: Orders, dispatch: { event: order_saved, data: [id, total] } }
  /data/:id:
    scopes: [order]
    methods: { PATCH: { action: Data, dispatch: order_changed } }
  /saved:
    scopes: [order]
    methods:
      POST: { action: Saved, dispatch: { event: order_saved, data: [id, total] } }
`
const files = { 'waypost.yml': yaml, 'migrations/System/20260101-order.yml': migration }

describeSystems('writes of several rows', chooseKinds('sqlite'), ({ newSystem }) => {
  let server: ProjectServer
  let ann: { authorization: string }
  before(async () => {
    server = await openProjectServer({ files, systemUrl: await newSystem(), isDevelopment: true })
    ann = await server.authorize('ann', ['order'])
  })
  after(() => server[Symbol.asyncDispose]())
  const call = (operation: string, body?: unknown) => {
    const [method = '', path = ''] = operation.split(' ')
    return send(server.port, { method, path, headers: ann, ...(body === undefined ? {} : { body }) })
  }
  const messages = async () => {
    const rows = await server.host.system.db.selectFrom('waypost_message').select(['data']).orderBy('id').execute()
    await server.host.system.db.deleteFrom('waypost_message').execute()
    return rows.map(({ data }) => JSON.parse(data) as unknown)
  }

  test('dispatch an event for each row, with the properties in "data"', async () => {
    const rows = [1, 2, 3].map((total) => ({ sku: `s${total}`, total, note: 'secret' }))
    const { status, body } = await call('POST /order', rows)
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(
      await messages(),
      body.map(({ id, total }: { id: number; total: number }) => ({ id, total })),
    )
    const one = await call('POST /order', { sku: 'one', total: 4 })
    assert.equal(one.status, 201)
    assert.deepEqual(await messages(), [{ id: one.body.id, total: 4 }])
  })

  test('dispatch JSON columns with all digits of their numbers', async () => {
    const { body } = await call('POST /order', { sku: 'digits', total: 1 })
    await messages()
    const { db } = server.host.system
    for (const data of ['{"a":[12345678901234567890,0.12345678901234567890,1]}', '{"b":1e400}']) {
      await sql`update app_order set data = ${data} where id = ${body.id}`.execute(db)
      // PostgreSQL adds blanks, and writes an exponent as zeros.
      const { rows } = await sql<{ text: string }>`select cast(data as text) as text from app_order`.execute(db)
      const texts = rows.flatMap(({ text }) => text ?? [])
      const changed = await call(`PATCH /data/${body.id}`, { sku: 'digits' })
      assert.deepEqual([changed.status, changed.text], [200, `{"id":${body.id},"data":${texts[0]}}`])
      const written = texts.map((text) => text.replaceAll(' ', '').replace(/0{400}/, 'e400'))
      assert.deepEqual(written, [data])
      const [message] = await db.selectFrom('waypost_message').select('data').execute()
      assert.equal(message!.data, changed.text.replaceAll(' ', ''))
      await messages()
    }
  })

  test('store nothing if one event cannot be dispatched', async () => {
    const { status } = await call('POST /order', [
      { sku: 'x1', total: 100 },
      { sku: 'x2', total: 101 },
    ])
    assert.equal(status, 500)
    assert.deepEqual(await messages(), [])
    assert.equal((await call('POST /order', { sku: 'x1', total: 1 })).status, 201)
  })

  test('undo what was done in the transaction before the row that fails', async () => {
    await messages()
    const failed = await call('POST /order', [
      { sku: 'y1', total: 1 },
      { sku: 's1', total: 1 },
    ])
    assert.equal(failed.status, 409)
    assert.deepEqual(failed.body.errors, [{ path: 'body/1/sku', message: 'is already taken in this combination' }])
    assert.deepEqual(await messages(), [])
    const saved = await call('POST /saved', [
      { sku: 'y1', total: 7 },
      { sku: 's1', total: 8 },
    ])
    assert.equal(saved.status, 200, JSON.stringify(saved.body))
    assert.equal((await messages()).length, 2)
    assert.equal((await call('POST /saved', { sku: 'y2', total: 7 })).status, 201)
    const again = await call('POST /saved', { sku: 'y2', total: 9 })
    assert.deepEqual([again.status, again.headers['etag'], again.headers['location']], [200, '"2"', undefined])
  })

  test('a list is sent as CSV, without formulas, and with a link to the next page', async () => {
    const eve = await server.authorize('eve', ['order'])
    const notes = ['=1+1', '+1', '-2.5e3', '-x', '@a', '\tb', '\rc', 'a,"b"\r\nc', 'é', '', null]
    const rows = notes.map((note, index) => ({ sku: `c${index}`, total: index, note }))
    const headers = { ...eve, accept: 'text/csv' }
    const posted = await send(server.port, { method: 'POST', path: '/order', headers: eve, body: rows })
    assert.equal(posted.status, 201)
    const get = (path: string) => send(server.port, { method: 'GET', path, headers })
    const { text, headers: sent } = await get('/order?limit=100')
    assert.deepEqual([sent['content-type'], sent['link']], ['text/csv; charset=utf-8', undefined])
    assert.match(String(sent['vary']), /Accept/)
    const cells = [`'=1+1`, '+1', '-2.5e3', `'-x`, `'@a`, `"'\tb"`, `"'\rc"`, `"a,""b""\r\nc"`, 'é', '""', '']
    const lines = cells.map((cell, index) => `${posted.body[index].id},c${index},${index},${cell},1`)
    assert.equal(text, `${['id,sku,total,note,version', ...lines].join('\r\n')}\r\n`)
    const first = await get('/order?limit=6')
    const [, link] = /^<(\?.*)>; rel="next"$/.exec(String(first.headers['link'])) ?? []
    const second = await get(`/order${link}`)
    assert.equal(first.text + second.text.slice(second.text.indexOf('\n') + 1), text)
    assert.equal((await get('/order?count=true')).status, 400)
    const json = await send(server.port, { method: 'GET', path: '/order', headers: eve })
    assert.equal(json.body.entry.length, notes.length)
    const refused = await send(server.port, { method: 'GET', path: '/order', headers: { ...eve, accept: 'text/html' } })
    assert.equal(refused.status, 406)
  })

  test('are documented', async () => {
    const { paths } = (await call('GET /openapi.json')).body
    const { post } = paths['/saved']
    assert.deepEqual(Object.keys(post.responses).slice(0, 2), ['200', '201'])
    assert.match(post.description, /Changes the row with the same "sku", if it exists\./)
    assert.match(JSON.stringify(post.requestBody), /"maxItems":500/)
    const { 200: list } = paths['/order'].get.responses
    assert.deepEqual(
      [Object.keys(list.content), Object.keys(list.headers)],
      [['application/json', 'text/csv'], ['Link']],
    )
  })

  test('break callers when they are removed or limited', async () => {
    const changesOf = async (change: (text: string) => string) => {
      const stored = await server.deploy({ 'waypost.yml': change(yaml) })
      return compareManifests(server.release.manifest, stored.manifest).flatMap(({ name, details }) =>
        details.flatMap((one) => (one.breaking ? `${name} ${one.text}` : [])),
      )
    }
    const removed = await changesOf((text) =>
      text.replaceAll('bulk: 500, ', '').replace('upsert: [sku], ', '').replace('csv: true, ', ''),
    )
    const texts = [
      'POST /order request: is object, was array',
      'POST /saved upsert removed: Changes the row with the same "sku", if it exists.',
      'POST /saved response 200: removed',
      'GET /order response 200: text/csv is no longer sent',
    ]
    for (const text of texts) assert.ok(removed.includes(text), removed.join('\n'))
    const limited = await changesOf((text) => text.replaceAll('bulk: 500', 'bulk: 499'))
    assert.ok(
      limited.some((text) => text.includes('maxItems 499, was 500')),
      limited.join('\n'),
    )
    assert.deepEqual(await changesOf((text) => text.replaceAll('bulk: 500', 'bulk: 501')), [])
  })
})
