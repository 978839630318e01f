import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import Fastify from 'fastify'
import { readJsonBodies } from '../../src/runtime/json-body.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
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
  ['a prototype in half of a text', '{"__proto__":1', 400, /not valid JSON/],
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
