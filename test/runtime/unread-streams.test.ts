import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { isLong } from '../support/forms.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

/** More of 64 kB than sockets hold. */
const parts = isLong ? 1000 : 400

describe('a stream that is not read', () => {
  const source = `import { createReadStream } from 'node:fs'
    import { Readable } from 'node:stream'
    let [closed, late, made] = [0, 0, 0]
    const part = () => ((made += 1) % ${parts} === 0 ? null : Buffer.alloc(65536))
    const large = () => new Readable({ read() { this.push(part()) } })
    async function* generateLarge() { for (let one = part(); one !== null; one = part()) yield one }
    const endless = () => new Readable({
      read() { setTimeout(() => this.push('x'), 5) },
      destroy(error, done) { closed += 1; done(error) },
    })
    async function* generate() { try { for (;;) { yield 'x'; await wait(5) } } finally { closed += 1 } }
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))`
  const body = `if (request.params.kind === 'closed') return { closed, late, made }
    if (request.params.kind === 'large') return large()
    if (request.params.kind === 'large-generator') return generateLarge()
    if (request.query.late !== undefined) {
      late += 1
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
      await wait(20)
    }
    if (request.params.kind === 'bodyless') return context.respond(204, endless())
    if (request.params.kind === 'status') return context.respond(999, endless())
    if (request.params.kind === 'header') return context.respond(200, endless(), { 'x-bad': 'a\\r\\nb: c' })
    if (request.params.kind === 'missing') {
      await context.dispatch('ping', {})
      const missing = createReadStream('/there/is/no/such/file')
      missing.once('close', () => (closed += 1))
      return missing
    }
    if (request.params.kind === 'generator') return generate()
    return request.params.kind === 'given' ? context.respond(200, endless()) : endless()`
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({
      files: {
        'waypost.yml':
          'routes: { /stream/:kind: { path: { kind: { type: string } }, methods: { GET: { public: true, timeout: 100ms, action: src/a.ts } } }, ' +
          '/timed/:kind: { path: { kind: { type: string } }, methods: { GET: { public: true, timeout: 1m, action: src/a.ts } } }, ' +
          '/slow/:kind: { path: { kind: { type: string } }, methods: { GET: { public: true, action: src/a.ts } } }, ' +
          '/result/:kind: { path: { kind: { type: string } }, methods: { GET: { public: true, dispatch: ping, action: src/a.ts } } } }\n' +
          'event: { ping: { schema: { type: object } } }',
        'src/a.ts': actionFile(body, source),
      },
    })
  })
  after(() => server[Symbol.asyncDispose]())
  const count = async (what: 'closed' | 'late' | 'made'): Promise<number> =>
    (await send(server.port, { path: '/slow/closed' })).body[what]
  const countClosed = () => count('closed')
  const countLate = () => count('late')
  const untilClosed = async (count: number) => {
    await until('it is closed', async () => (await countClosed()) >= count)
    assert.equal(await countClosed(), count)
  }

  for (const kind of ['plain', 'given', 'generator']) {
    test(`is closed when its caller disconnects: ${kind}`, async () => {
      const before = await countClosed()
      const controller = new AbortController()
      const answer = await fetch(`${server.url}/slow/${kind}`, { signal: controller.signal })
      await answer.body!.getReader().read()
      controller.abort()
      await untilClosed(before + 1)
    })
  }

  for (const kind of ['large', 'large-generator']) {
    test(`waits until its caller reads, and is sent completely: ${kind}`, async () => {
      const begun = await count('made')
      const socket = connect(server.port, '127.0.0.1').pause()
      socket.write(`GET /slow/${kind} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      let made = begun
      await until('it waits', async () => {
        const before = made
        made = await count('made')
        return made > begun && made === before
      })
      assert.ok(made - begun < parts / 2, `${made - begun} of ${parts} parts`)
      assert.ok((await buffer(socket)).length > (parts - 1) * 65_536)
      assert.equal((await count('made')) - begun, parts)
    })
  }

  for (const kind of ['plain', 'given']) {
    test(`is closed when it arrives after the timeout, and the caller has got one response: ${kind}`, async () => {
      const before = await countClosed()
      const { status, body: answer } = await send(server.port, { path: `/stream/${kind}?late` })
      assert.deepEqual([status, answer.detail], [503, 'The response took longer than 0.1 s'])
      await untilClosed(before + 1)
    })

    test(`is closed when its caller disconnected before it arrived: ${kind}`, async () => {
      const before = await countClosed()
      const late = await countLate()
      const controller = new AbortController()
      const answer = fetch(`${server.url}/slow/${kind}?late`, { signal: controller.signal })
      await until('it is asked', async () => (await countLate()) > late)
      controller.abort()
      await assert.rejects(answer)
      await untilClosed(before + 1)
    })
  }

  for (const [path, expected] of [
    ['/timed/bodyless', 204],
    ['/timed/status', 500],
    ['/timed/header', 500],
    ['/result/plain', 500],
    ['/timed/missing', 500],
    ['/slow/missing', 500],
  ] as const) {
    test(`is closed when it cannot be sent, and its own failure has no effect: ${path}`, async () => {
      const before = await countClosed()
      assert.equal((await send(server.port, { path })).status, expected)
      await untilClosed(before + 1)
    })
  }

  test('may fail to open when the request was HEAD', async () => {
    const before = await countClosed()
    await send(server.port, { path: '/timed/missing', method: 'HEAD' })
    await untilClosed(before + 1)
  })

  test('is closed when the request was HEAD', async () => {
    const before = await countClosed()
    assert.equal((await send(server.port, { path: '/slow/plain', method: 'HEAD' })).status, 200)
    await untilClosed(before + 1)
  })
})
