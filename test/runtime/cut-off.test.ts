import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { probeAgent, userAgent } from '../../src/kit/index.ts'
import type { RequestReport } from '../../src/runtime/index.ts'
import { until } from '../support/until.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'

const route = (file: string) => `{ methods: { GET: { public: true, action: src/${file}.ts } } }`
const files = {
  'waypost.yml': `routes:
  /generated: ${route('generated')}
  /destroyed: ${route('destroyed')}
  /ended: ${route('ended')}
  /endless: ${route('endless')}
  /whole: ${route('whole')}
  /slow:
    methods:
      GET: { public: true, action: src/slow.ts }
      PUT:
        public: true
        request: { content: { multipart/form-data: { type: object, properties: { a: { type: string } } } } }
        action: src/slow.ts
`,
  'src/generated.ts': actionFile(
    "return (async function* () { yield 'a'; await new Promise(setImmediate); throw new Error('mid') })()",
  ),
  'src/destroyed.ts': actionFile(
    `const stream = new Readable({ read() {} })
    stream.push('a')
    setTimeout(() => stream.destroy(new Error('lost')), 20)
    return stream`,
    "import { Readable } from 'node:stream'",
  ),
  'src/ended.ts': actionFile(
    `const stream = new Readable({ read() {} })
    stream.push('a')
    setTimeout(() => stream.destroy(), 20)
    return stream`,
    "import { Readable } from 'node:stream'",
  ),
  'src/slow.ts': actionFile(
    "await new Promise((resolve) => context.signal.addEventListener('abort', resolve))\nreturn {}",
  ),
  'src/endless.ts': actionFile(
    "return (async function* () { for (;;) { yield 'a'; await new Promise((resolve) => setTimeout(resolve, 5)) } })()",
  ),
  'src/whole.ts': actionFile("return (async function* () { yield 'a'; yield 'b' })()"),
}

describe('a streamed response', () => {
  let server: ProjectServer
  const answered: RequestReport[] = []
  const failed: { error: unknown; id: string }[] = []

  before(async () => {
    server = await openProjectServer({
      files,
      onResponse: (one) => void answered.push(one),
      onServerError: (error, { id }) => void failed.push({ error, id }),
    })
  })
  beforeEach(() => {
    answered.length = 0
    failed.length = 0
  })
  after(() => server[Symbol.asyncDispose]())

  async function answeredOnce(): Promise<RequestReport> {
    await until('it is reported', () => answered.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.equal(answered.length, 1)
    return answered[0]!
  }

  for (const [path, message] of [
    ['/generated', 'mid'],
    ['/destroyed', 'lost'],
    ['/ended', 'Premature close'],
  ]) {
    test(`and fails in the middle is reported as cut off, and logged under its id: ${path}`, async () => {
      const response = await fetch(server.url + path)
      await assert.rejects(response.text())
      const { id, status, aborted: cut } = await answeredOnce()
      assert.deepEqual({ status, cut }, { status: 200, cut: 'failed' })
      assert.deepEqual(
        failed.map((one) => [one.id, (one.error as Error).message]),
        [[id, message]],
      )
      const line = server.logs.find((one) => one['reqId'] === id && one['level'] === 50)
      assert.equal(line?.['msg'], 'response aborted')
      assert.equal((line['err'] as Error).message, message)
      if (path === '/generated') assert.match((line['err'] as Error).stack!, /[( ]src\/generated\.ts/)
    })
  }

  test('whose caller disconnects is not a failure', async () => {
    const abort = new AbortController()
    const response = await fetch(`${server.url}/endless`, { signal: abort.signal })
    await response.body!.getReader().read()
    abort.abort()
    const { status, aborted: cut } = await answeredOnce()
    assert.deepEqual({ status, cut }, { status: 200, cut: 'left' })
    assert.deepEqual(failed, [])
  })

  test('that has not begun when its caller disconnects is reported too, whether the action runs or the body arrives', async () => {
    const { port } = new URL(server.url)
    const form = 'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 100\r\n\r\n--x'
    for (const text of ['GET /slow HTTP/1.1\r\nHost: a\r\n\r\n', `PUT /slow HTTP/1.1\r\nHost: a\r\n${form}`]) {
      answered.length = 0
      const socket = connect(Number(port), '127.0.0.1')
      socket.write(text)
      setTimeout(() => socket.destroy(), 100)
      const { method, status, aborted: cut } = await answeredOnce()
      assert.deepEqual({ method, status, cut }, { method: text.slice(0, 3), status: 499, cut: 'left' })
    }
    assert.deepEqual(failed, [])
  })

  test('to a Waypost command is not reported; to other clients it is', async () => {
    await fetch(`${server.url}/health/live`, { headers: { 'user-agent': probeAgent } })
    await fetch(`${server.url}/health/live`, { headers: { 'user-agent': userAgent } })
    assert.equal((await answeredOnce()).path, '/health/live')
  })

  test('and comes to its end is reported once', async () => {
    assert.equal(await (await fetch(`${server.url}/whole`)).text(), 'ab')
    assert.equal((await answeredOnce()).aborted, undefined)
    assert.deepEqual(failed, [])
  })
})
