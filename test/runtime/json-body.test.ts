import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import Fastify from 'fastify'
import { isStorable } from '../../src/kit/index.ts'
import { parseJsonBody, readJsonBodies } from '../../src/runtime/json-body.ts'
import { isLong } from '../support/forms.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { until } from '../support/until.ts'

async function post(payload: string | Buffer) {
  const app = Fastify()
  readJsonBodies(app)
  app.post('/', async (request) => ({ body: request.body }))
  const response = await app.inject({
    method: 'POST',
    url: '/',
    payload,
    headers: { 'content-type': 'application/json' },
  })
  await app.close()
  return { status: response.statusCode, body: response.json() }
}

/** Nested lists with nested objects. */
function nest(lists: number, objects: number): string {
  return `${'['.repeat(lists)}${'{"a":'.repeat(objects)}1${'}'.repeat(objects)}${']'.repeat(lists)}`
}

const cases: readonly [name: string, payload: string | Buffer, status: number, said?: RegExp][] = [
  ['plain text', '{"a":"b"}', 200],
  ['an escaped backslash before u0000', '{"a":"\\\\u0000"}', 200],
  ['a whole surrogate pair', '{"a":"\\ud83d\\ude00"}', 200],
  ['a NUL in a text', '{"a":"b\\u0000c"}', 400, /NUL/],
  ['a NUL in a key', '{"b\\u0000c":1}', 400, /NUL/],
  ['a NUL deep inside', `${'['.repeat(90)}"\\u0000"${']'.repeat(90)}`, 400, /NUL/],
  ['100 levels', nest(50, 50), 200],
  ['101 levels', nest(51, 50), 400, /^The body is nested more than 100 levels deep$/],
  ['a million levels that never end', '['.repeat(1_000_000), 400, /100 levels/],
  ['brackets in a text', `["\\"${'['.repeat(5000)}\\\\", "${'{'.repeat(5000)}"]`, 200],
  ['many lists beside one another', `[${Array(5000).fill('[[]]').join()}]`, 200],
  ['half of a surrogate pair', '{"a":["\\uD800"]}', 400, /surrogate/],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 400, /UTF-8/],
  ['a prototype', '{"__proto__":{"a":1}}', 400, /: it has the forbidden key __proto__$/],
  ['a prototype deep inside', '[{"a":[{"\\u005f_proto__":1}]}]', 400, /: it has the forbidden key __proto__$/],
  [
    'a prototype by its constructor',
    '{"a":{"constructor":{"prototype":1}}}',
    400,
    /forbidden key constructor\.prototype/,
  ],
  ['a constructor that is a text', '{"constructor":"Smith"}', 200],
  [
    'a constructor beside a prototype',
    '{"constructor":{"a":1},"prototype":1,"b":{"constructor":[{"prototype":1}]}}',
    200,
  ],
  [
    'a prototype by its constructor in escapes',
    '[{"c\\u006Fnstructor" : { "\\u0070rototype":1}}]',
    400,
    /constructor\.prototype/,
  ],
  ['a prototype in a text', '{"a":"\\"__proto__\\":1"}', 200],
  ['a key that ends like a prototype', '{"a\\"__proto__":1}', 200],
  ['a byte order mark', '\uFEFF{"a":1}', 200],
  ['a number beyond the range', '{"a":[-1e400]}', 400, /1\.8e308/],
  ['a number of many digits', `{"a":${'9'.repeat(310)}}`, 400, /1\.8e308/],
  ['the largest numbers', `{"a":[1.7e308,${'9'.repeat(308)},0.${'9'.repeat(400)},1e-999]}`, 200],
  ['a large number in a text', `{"a":"\\"1e400","b\\\\":"${'9'.repeat(400)}"}`, 200],
  ['a prototype in half of a text', '{"__proto__":1', 400, /not valid: it cannot be parsed/],
  ['nothing', '', 400],
  ['half of a text', '{"a":', 400],
]

for (const [name, payload, status, said] of cases) {
  test(`a body with ${name} returns ${status}`, async () => {
    const answer = await post(payload)
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    if (said !== undefined) assert.match(String(answer.body.message), said)
  })
}

test('a wide body is not listed to find what is rejected', async () => {
  const listed: unknown[] = []
  const { keys, entries, values } = Object
  const watch =
    <Found>(list: (object: object) => Found) =>
    (object: object) => {
      listed.push(object)
      return list(object)
    }
  const wide = Array.from({ length: 5000 }, (_, index) => `"k${index}":1e300`).join()
  const body = `{"constructor":1,"escape":"\\ud83d\\ude00 \\\\u0000",${wide}}`
  try {
    Object.assign(Object, { keys: watch(keys), entries: watch(entries), values: watch(values) })
    parseJsonBody(Buffer.from(body))
  } finally {
    Object.assign(Object, { keys, entries, values })
  }
  assert.deepEqual(listed, [])
})

describe('what is rejected is found in the text as in the value', () => {
  // prettier-ignore
  const piece = fc.constantFrom(
    '\\\\', '\\"', '\\u0000', '\\ud83d', '\\ude00', '\\uD800', '\\u0041', '\\u005f_proto__', '\\n', 'u0000', 'a', '😀', '1e999', ':',
    '{', '__proto__', 'constructor', 'prototype', '1'.repeat(400),
  )
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => `"${pieces.join('')}"`)
  const name = fc.oneof(text, fc.constantFrom('"__proto__"', '"\\u005F_proto__"', '"constructor"', '"protot\\u0079pe"'))
  // prettier-ignore
  const number = fc.constantFrom(
    '1', '-1e308', '1e309', '-1e999', '1E+400', '1e-400', '0e999', '1.5e3', '9'.repeat(308), '9'.repeat(310),
    `0.${'9'.repeat(400)}`,
  )
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      number,
      fc.constant('null'),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc
        .uniqueArray(fc.tuple(name, tie('value')), { maxLength: 3, selector: ([key]) => JSON.parse(key) as string })
        .map((entries) => `{${entries.map(([key, one]) => `${key} :${one}`).join()}}`),
    ),
  }))
  test('for any JSON', () => {
    fc.assert(
      fc.property(value, (json) => {
        const expected = findRejected(JSON.parse(json))
        if (expected === undefined) assert.deepEqual(parseJsonBody(Buffer.from(json)), JSON.parse(json))
        else assert.throws(() => parseJsonBody(Buffer.from(json)), { code: 'WP_RUNTIME_BODY_JSON' })
      }),
      { numRuns: isLong ? 50_000 : 2000 },
    )
  })
})

/** Walks through the value. */
function findRejected(value: unknown, key = ''): string | undefined {
  if (!isStorable(key)) return 'key'
  if (typeof value === 'string') return isStorable(value) ? undefined : 'text'
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'number'
  if (typeof value !== 'object' || value === null) return undefined
  const { constructor: made } = value as { readonly constructor: unknown }
  const isMade = Object.hasOwn(value, 'constructor') && typeof made === 'object' && made !== null
  if (Object.hasOwn(value, '__proto__') || (isMade && Object.hasOwn(made, 'prototype'))) return 'prototype'
  return Object.entries(value)
    .map(([name, one]) => findRejected(one, Array.isArray(value) ? '' : name))
    .find((found) => found !== undefined)
}

test('accepted values arrive unchanged', async () => {
  const { body } = await post('{"a":"\\ud83d\\ude00 \\\\u0000","n":1.5,"l":[null,true]}')
  assert.deepEqual(body, { body: { a: '😀 \\u0000', n: 1.5, l: [null, true] } })
})

test('a body is not in memory any more while its response waits to be read', async () => {
  const kept: { body?: WeakRef<object> } = {}
  Object.assign(globalThis, { kept })
  await using server = await openProjectServer({
    files: {
      'waypost.yml': `
routes:
  /todo: { methods: { POST: { public: true, request: { type: object }, response: {}, action: src/large.ts } } }
`,
      'src/large.ts': actionFile(
        "Object.assign((globalThis as never)['kept'], { body: new WeakRef(request.body as object) }); return 'x'.repeat(20e6)",
      ),
    },
  })
  const socket = connect(server.port, '127.0.0.1').pause()
  const body = JSON.stringify({ text: 'x'.repeat(500_000) })
  socket.write(
    `POST /todo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body)
  await until('the action has run', () => kept.body !== undefined)
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  await until('the body is collected', () => {
    collectGarbage()
    return kept.body!.deref() === undefined
  })
  socket.destroy()
})

describe('a body that arrives in pieces', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({
      files: {
        'waypost.yml': `
config: { body_limit: 200kb }
routes:
  /digest: { methods: { POST: { public: true, request: { type: object }, response: {}, action: src/digest.ts } } }
`,
        'src/digest.ts': actionFile('return (request.body as { text: string }).text'),
      },
    })
  })
  after(() => server[Symbol.asyncDispose]())

  /** Sends a body in pieces, each in a turn of its own. */
  async function sendPieces(head: string, pieces: readonly (string | Buffer)[]) {
    const socket = connect(server.port, '127.0.0.1')
    let text = ''
    socket.on('data', (part: Buffer) => (text += part.toString()))
    const closed = new Promise<void>((resolve) => void socket.on('error', () => undefined).on('close', () => resolve()))
    socket.write(
      `POST /digest HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n${head}\r\n\r\n`,
    )
    for (const piece of pieces) {
      if (socket.destroyed) break
      socket.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { socket, closed, text: () => text }
  }
  const cut = (text: string, sizes: readonly number[]): string[] => {
    const pieces: string[] = []
    for (let at = 0, turn = 0; at < text.length; turn += 1) {
      const size = sizes[turn % sizes.length]!
      pieces.push(text.slice(at, at + size))
      at += size
    }
    return pieces
  }
  const forms: Readonly<Record<string, readonly [length: number, sizes: readonly number[]]>> = {
    'of one byte': [300, [1]],
    'of which the first is small': [60_000, [3, 40_000, 5, 20_000]],
    'that are small, for more than one buffer': [50_000, [900]],
    'large and small ones in turn': [120_000, [5000, 10, 20, 4096, 4095]],
  }
  for (const [name, [length, sizes]] of Object.entries(forms)) {
    for (const isChunked of [false, true]) {
      test(`${name} is read as one${isChunked ? ', without a length' : ''}`, async () => {
        const value = Array.from({ length }, (_, index) => String.fromCodePoint(97 + (index % 23))).join('')
        const json = JSON.stringify({ text: value })
        const pieces = cut(json, sizes)
        const head = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${json.length}`
        const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
        const { closed, text } = await sendPieces(head, isChunked ? [...chunks, '0\r\n\r\n'] : pieces)
        await closed
        assert.match(text(), /^HTTP\/1\.1 200 /)
        assert.equal(JSON.parse(text().split('\r\n\r\n')[1]!), value)
      })
    }
  }

  test('and is too long is refused before its end', async () => {
    const chunk = `${(8000).toString(16)}\r\n${' '.repeat(8000)}\r\n`
    const { socket, text } = await sendPieces(
      'Transfer-Encoding: chunked',
      Array.from({ length: 40 }, () => chunk),
    )
    await until('it is refused', () => text().includes('larger than 204800 bytes'))
    assert.match(text(), /^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  test('and never ends is forgotten with its connection', async () => {
    const before = server.logs.length
    const { socket, closed, text } = await sendPieces('Content-Length: 1000', ['{"text":', '"a'])
    socket.destroy()
    await closed
    assert.equal(text(), '')
    const { closed: ended, text: other } = await sendPieces('Content-Length: 12', ['{"text":', '"b"}'])
    await ended
    assert.match(other(), /"b"$/)
    assert.ok(
      !server.logs.slice(before).some(({ level }) => Number(level) >= 50),
      JSON.stringify(server.logs.slice(before)),
    )
  })
})
