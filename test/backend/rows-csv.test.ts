import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { defaultKinds } from '../support/forms.ts'
import { describeSystems } from '../support/project-server.ts'
import { openShop, type RowWorld } from './row-world.ts'

const id = (index: number) => `0192f0c1-0000-7000-8000-${String(index).padStart(12, '0')}`

describeSystems('rows as CSV files', defaultKinds, ({ newSystem }) => {
  let world: RowWorld
  before(async () => {
    world = await openShop(await newSystem())
  })
  after(() => world[Symbol.asyncDispose]())

  const load = async (table: string, file: string | Uint8Array, query = '') => {
    const line = `POST /table/System/${table}/import${query}`
    const answer = await world.call(line, file, { 'content-type': 'text/csv' })
    const lines =
      answer.status === 200
        ? answer.text
            .trim()
            .split('\n')
            .map((one) => JSON.parse(one))
        : []
    return { ...answer, end: lines.at(-1), problems: lines.filter(({ kind }) => kind === 'problem') }
  }
  const save = async (table: string, filter = '') =>
    (await world.call(`GET /table/System/${table}/export?filter=${encodeURIComponent(filter)}`)).text
  const count = async (table: string) => (await world.call(`GET /table/System/${table}/count`)).body.count

  test('an export is imported again unchanged, whatever texts it has', async () => {
    const names = ['', '=1+1', "'=x", '-5', '@a', ' x ', '\n=1', '＝1', "''＠", 'a;b,"c"\r\nd', 'x'.repeat(1024 * 1024)]
    const quoted = names.map((name, index) => `${id(index)},a${index}@example.com,"${name.replaceAll('"', '""')}",yes`)
    const first = await load(
      'shop_customer',
      `\uFEFFid,email,name,active\n${quoted.join('\n')}\n${id(12)},n@example.com,,f\n`,
    )
    assert.deepEqual(first.end, { kind: 'done', rows: 12 }, first.text.slice(0, 1000))
    const file = await save('shop_customer')
    assert.match(file, /^id,email,name,active\r\n/)
    for (const safe of [/,'=1\+1,true\r\n/, /,"'\n=1",true\r\n/, /,'＝1,true\r\n/]) assert.match(file, safe)
    await world.run('delete from shop_customer')
    const second = await load('shop_customer', file)
    assert.deepEqual(second.end, { kind: 'done', rows: 12 }, second.text.slice(0, 1000))
    assert.equal(await save('shop_customer'), file)
    assert.equal((await save('shop_customer', 'active=false')).split('\r\n').length, 3)
  })

  test('each line that does not fit is named with its column and the reason, and nothing is imported', async () => {
    const before = await count('shop_order')
    const file = [
      'customer_id;total;day;at;meta',
      `${id(1)};5;2026-11-29;2026-11-29 10:00:00;"{""a"":1}"`,
      `${id(1)};five;;;`,
      `${id(1)};1;2026-02-30;;{`,
      `${id(1)};1;2026-02-30;;`,
      `${id(1)};1`,
    ].join('\r\n')
    const { end, problems, text } = await load('shop_order', file)
    assert.deepEqual(end, { kind: 'failed', message: null }, text)
    assert.deepEqual(
      problems.map(({ line, column }) => [line, column]),
      [[3, 'total'], [4, 'meta'], [5, 'day'], [6, null]], // prettier-ignore
    )
    assert.equal(await count('shop_order'), before)
  })

  test('lines that the database refuses are named too, all of them', async () => {
    const file = ['id,email', `${id(20)},new@example.com`, `${id(21)},a1@example.com`, `${id(22)},new@example.com`, `${id(1)},z@example.com`] // prettier-ignore
    const { end, problems, text } = await load('shop_customer', file.join('\n'))
    assert.deepEqual(end, { kind: 'failed', message: null }, text)
    assert.deepEqual(
      problems.map(({ line, column, message }) => [line, column, message]),
      [[3, 'email', 'is already taken'], [4, 'email', 'is already taken'], [5, 'id', 'is already taken']], // prettier-ignore
    )
    const orders = await load('shop_order', `customer_id\n${id(1)}\n${id(99)}\n`)
    assert.deepEqual(
      orders.problems.map(({ line }) => line),
      [3],
    )
    assert.equal(await count('shop_order'), 0)
  })

  test('rows with the same unique key are changed if that is wanted', async () => {
    const file = `email,id,name\na1@example.com,${id(1)},Ann\nb@example.com,${id(31)},Bo\n`
    assert.equal((await load('shop_customer', file)).end.kind, 'failed')
    const { end, text } = await load('shop_customer', file, '?upsert=email')
    assert.deepEqual(end, { kind: 'done', rows: 2 }, text)
    const { body } = await world.call('GET /table/System/shop_customer/row?filter=name%3DAnn%26name%3DBo')
    assert.deepEqual(
      body.entry.map(({ values }: { values: { id: string } }) => values.id),
      [id(1), id(31)],
    )
    assert.equal((await load('shop_customer', file, '?upsert=name')).status, 409)
  })

  test('the first line is checked, and what is no CSV file is refused', async () => {
    for (const [file, problem] of [
      ['', { line: 1, column: null, message: 'The file is empty. Its first line names the columns' }],
      [
        `id,email,surname\n${id(50)},s@example.com,x`,
        { line: 1, column: 'surname', message: 'is not a column of shop_customer' },
      ],
      [`id\n${id(50)}`, { line: 1, column: 'email', message: 'is missing, but rows need it' }],
      [`id,email,email\n${id(50)},a,b`, { line: 1, column: 'email', message: 'is in the file twice' }],
      [
        Buffer.from([0x69, 0x64, 0x0a, 0xff]),
        { line: 1, column: null, message: 'The file is not UTF-8. Save it as "CSV UTF-8"' },
      ],
    ] as const) {
      const { problems, text } = await load('shop_customer', file)
      assert.deepEqual(problems[0], { kind: 'problem', ...problem }, text)
    }
    const skipped = await load('shop_customer', `id,email,surname\n${id(51)},s@example.com,x`, '?skip_unknown=true')
    assert.deepEqual(skipped.end, { kind: 'done', rows: 1 }, skipped.text)
    const json = await world.call('POST /table/System/shop_customer/import', { id: 1 })
    assert.equal(json.status, 415)
    const view = await load('shop_total', 'email\nx')
    assert.equal(view.status, 409)
  })

  test('new rows get ids after those that were imported', async () => {
    const { end, text } = await load('shop_order', `id,customer_id\n1,${id(1)}\n40,${id(1)}\n`)
    assert.deepEqual(end, { kind: 'done', rows: 2 }, text)
    const added = await world.call('POST /table/System/shop_order/row', { customer_id: id(1) })
    assert.equal(added.status, 201, added.text)
    assert.ok(added.body.values.id > 40)
  })

  test('exports and imports are in the audit log', async () => {
    const { body } = await world.call('GET /audit?action=row.import')
    assert.equal(body.entry.length, 5)
    assert.deepEqual(body.entry[0].after, { columns: ['id', 'customer_id'], rows: 2 })
    const { body: exports } = await world.call('GET /audit?action=row.export')
    assert.deepEqual(exports.entry[0].after, { columns: ['id', 'email', 'name', 'active'] })
  })

  test('JSON keeps its digits, and what no JSON body can have is refused', async () => {
    const meta = '{"big":12345678901234567890,"precise":0.12345678901234567891}'
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`
    const { end, text } = await load('shop_order', `id,customer_id,meta\n90,${id(1)},${cell(meta)}\n`)
    assert.deepEqual(end, { kind: 'done', rows: 1 }, text)
    const file = await save('shop_order', 'id=90')
    for (const digits of ['12345678901234567890', '0.12345678901234567891']) assert.ok(file.includes(digits), file)
    const { body } = await world.call('GET /table/System/shop_order/row?filter=id%3D90')
    const [{ etag, values }] = body.entry
    await world.call('DELETE /table/System/shop_order/row/%5B90%5D', undefined, { 'if-match': etag })
    const { count: _, ...sent } = values
    const undone = await world.call('POST /table/System/shop_order/row', sent)
    assert.equal(undone.body.etag, etag, undone.text)
    for (const bad of ['{"a":"\\u0000"}', '{"__proto__":{}}', '[1e400]', '{', `${'['.repeat(101)}${']'.repeat(101)}`]) {
      const refused = await world.call('POST /table/System/shop_order/row', { customer_id: id(1), meta: bad })
      assert.equal(refused.status, 400, refused.text)
      const { problems } = await load('shop_order', `customer_id,meta\n${id(1)},${cell(bad)}\n`)
      assert.deepEqual(problems[0]?.column, 'meta')
    }
    const nul = await load('shop_customer', `id,email\n${id(60)},a\0b\n`)
    assert.equal(nul.problems[0]?.message, 'has a NUL character', nul.text)
  })

  test('a file is missing, or arrives after its caller has lost the scope', async () => {
    const sendNothing = async () => (await world.call('POST /table/System/shop_customer/import')).status
    assert.equal(await sendNothing(), 400)
    const path = '/backend/table/System/shop_customer/import'
    const headers = { ...(await world.server.authorize('leaver', ['backend.data'])), 'content-type': 'text/csv' }
    const started = Promise.withResolvers<IncomingMessage>()
    const upload = request({ host: '127.0.0.1', port: world.server.port, method: 'POST', path, headers })
    upload.on('response', started.resolve).on('error', started.reject)
    upload.write(`id,email\n${id(70)},`)
    while ((await Promise.race([sendNothing(), started.promise.then(() => 0)])) === 400) continue
    assert.equal(await sendNothing(), 503, 'the upload is under way')
    assert.equal((await world.call('PATCH /user/leaver', { scopes: [] })).status, 200)
    upload.end('late@example.com\n')
    assert.equal((await started.promise).statusCode, 403)
    assert.equal((await load('shop_customer', `id,email\n${id(71)},free@example.com\n`)).end.kind, 'done')
  })
})
