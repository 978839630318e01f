import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { until } from '../support/until.ts'
import { bodyFiles, sendRaw } from './bodies-site.ts'

describe('bodies of other types than JSON', () => {
  let server: ProjectServer
  before(async () => void (server = await openProjectServer({ files: bodyFiles })))
  after(() => server[Symbol.asyncDispose]())

  async function send(line: string, body: string | Buffer | undefined, type?: string) {
    const [method = '', path = ''] = line.split(' ')
    const response = await fetch(server.url + path, {
      method,
      ...(body !== undefined && { body }),
      headers: type === undefined ? {} : { 'content-type': type },
    })
    const { errors, detail, ...rest } = (await response.json()) as any // oxlint-disable-line typescript/no-explicit-any
    const [first] = errors ?? []
    const problem = first === undefined ? detail : `${first.path} ${first.message}`
    return problem === undefined ? { status: response.status, ...rest } : { status: response.status, problem }
  }
  const form = 'application/x-www-form-urlencoded'

  test('a form is converted like a query', async () => {
    assert.deepEqual(await send('POST /form', 'a=1&b=x+y&b=%C3%B6%26', form), {
      status: 200,
      body: { a: 1, b: ['x y', 'ö&'], c: 'x' },
      type: form,
    })
    assert.deepEqual(await send('POST /form', 'a=1&b=one', `${form}; charset=utf-8`), {
      status: 200,
      body: { a: 1, b: ['one'], c: 'x' },
      type: form,
    })
    assert.deepEqual(await send('POST /form', 'b=x', form), { status: 400, problem: 'body/a is required' })
    assert.deepEqual(await send('POST /form', 'a=x', form), { status: 400, problem: 'body/a must be integer' })
    assert.deepEqual(await send('POST /form', 'a=1&a=2', form), { status: 400, problem: 'body/a must not be repeated' })
    assert.match((await send('POST /form', 'a=%', form)).problem, /hexadecimal/)
    assert.match((await send('POST /form', 'a=%FF', form)).problem, /not UTF-8/)
    assert.match((await send('POST /form', 'a=1&c=%00', form)).problem, /NUL/)
    assert.match((await send('POST /form', '__proto__=1', form)).problem, /forbidden field __proto__/)
    assert.equal((await send('POST /form', 'b=x&'.repeat(2000), form)).status, 413)
    assert.equal((await send('POST /form', `a=1&c=${'x'.repeat(1024 ** 2)}`, form)).status, 413)
  })

  test('JSON beside a form is not converted', async () => {
    const json = 'application/json'
    assert.deepEqual(await send('POST /form', '{"a":1}', json), { status: 200, body: { a: 1 }, type: json })
    assert.deepEqual(await send('POST /form', '{"a":"1"}', json), { status: 400, problem: 'body/a must be integer' })
    assert.deepEqual(await send('POST /form', '', json), {
      status: 400,
      problem: 'The JSON body is not valid: it is empty',
    })
    assert.deepEqual(await send('POST /form', undefined), { status: 400, problem: 'body is required' })
    const types = 'The body must be application/x-www-form-urlencoded or application/json'
    assert.deepEqual(await send('POST /form', 'x', 'text/plain'), { status: 415, problem: types })
    assert.deepEqual(await send('POST /form', Buffer.from('x')), { status: 415, problem: types })
  })

  test('a text', async () => {
    assert.deepEqual(await send('POST /text', 'Höhe', 'text/plain; charset=UTF-8'), {
      status: 200,
      body: 'Höhe',
      type: 'text/plain',
    })
    assert.deepEqual(await send('POST /text', 'x'.repeat(11), 'text/plain'), {
      status: 400,
      problem: 'body must NOT have more than 10 characters',
    })
    assert.match((await send('POST /text', Buffer.from([0xff]), 'text/plain')).problem, /not UTF-8/)
    assert.match((await send('POST /text', 'a\0', 'text/plain')).problem, /NUL/)
  })

  test('bytes are a stream, limited by body_limit', async () => {
    const octets = 'application/octet-stream'
    assert.deepEqual(await send('PUT /bytes', Buffer.alloc(1_500_000), octets), {
      status: 200,
      size: 1_500_000,
      type: octets,
    })
    assert.deepEqual(await send('PUT /bytes', Buffer.alloc(0), 'image/png'), {
      status: 200,
      size: 0,
      type: 'image/png',
    })
    assert.deepEqual(await send('PUT /bytes', Buffer.alloc(2_200_000), octets), {
      status: 413,
      problem: 'The body is larger than 2097152 bytes',
    })
    const chunked = await fetch(`${server.url}/bytes`, {
      method: 'PUT',
      headers: { 'content-type': octets },
      body: new Blob([Buffer.alloc(2_200_000)]).stream(),
      duplex: 'half',
    } as never)
    assert.equal(chunked.status, 413)
    assert.equal((await send('PUT /bytes', 'x', 'image/gif')).status, 415)
  })

  test('a stream that the action does not read ends the connection', async () => {
    const head =
      'POST /bytes HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: 900000\r\n\r\n'
    const received = await sendRaw(server.url, [head, Buffer.alloc(800_000)])
    assert.match(received, /^HTTP\/1\.1 200 [^]*"unread":true/)
  })

  test('a stream that is cut off fails', async () => {
    const head = 'PUT /bytes HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 900000\r\n\r\n'
    const received = await sendRaw(server.url, [head, Buffer.alloc(100)], true)
    assert.doesNotMatch(received, /HTTP\/1\.1 [25]/)
  })

  test('a stream that is read after the response has ended fails, because the rest of it was not kept', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const late = { released, size: 0, outcome: '' }
    ;(globalThis as Record<symbol, unknown>)[Symbol.for('waypost.test.late')] = late
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined)
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    socket.write(
      'POST /late HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n',
    )
    socket.write(Buffer.alloc(50_000))
    await until('the response arrives', () => received.includes('HTTP/1.1 503'))
    socket.write(Buffer.alloc(50_000))
    socket.write('GET /none HTTP/1.1\r\nHost: a\r\n\r\n')
    await until('the body has arrived', () => socket.closed || received.includes('HTTP/1.1 404'))
    release()
    await until('the action ends', () => late.outcome !== '')
    assert.match(late.outcome, /ends before/)
    socket.destroy()
  })

  test('raw has the exact bytes', async () => {
    const json = 'application/json'
    assert.deepEqual(await send('POST /hook', '{ "a":\t1.0 }', json), {
      status: 200,
      raw: '{ "a":\t1.0 }',
      body: { a: 1 },
    })
    assert.deepEqual(await send('POST /hook', undefined), { status: 400, problem: 'body is required' })
    assert.deepEqual(await send('PUT /hook', undefined), { status: 200, raw: '', body: {} })
    assert.deepEqual(await send('PUT /hook', '', json), { status: 200, raw: '', body: {} })
    assert.deepEqual(await send('PUT /hook', '[1]', json), { status: 400, problem: 'body must be object' })
  })

  test('body_limit of a method replaces the setting', async () => {
    const json = 'application/json'
    assert.deepEqual(await send('POST /json', '{"a":1}', json), { status: 200, body: { a: 1 } })
    assert.deepEqual(await send('POST /json', JSON.stringify({ a: 'x'.repeat(100) }), json), {
      status: 413,
      problem: 'The body is larger than 100 bytes',
    })
  })

  test('compressed bodies are refused', async () => {
    const response = await fetch(`${server.url}/text`, {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
    })
    assert.equal(response.status, 415)
    assert.equal(response.headers.get('accept-encoding'), 'identity')
  })
})
