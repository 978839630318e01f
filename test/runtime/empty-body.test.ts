import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { abortTimeoutMs } from '../support/until.ts'

const files = {
  'waypost.yml': `
routes:
  /todo:
    methods:
      POST: { public: true, request: { type: object }, response: { type: object }, rate: many, action: src/echo.ts }
  /open: { methods: { POST: { public: true, action: src/echo.ts }, DELETE: { public: true, action: src/echo.ts } } }
rate: { many: { limit: 100, window: 1s, by: address } }
`,
  'src/echo.ts': actionFile('return request.body'),
}

// Without Content-Length and Transfer-Encoding, a request ends with its headers (RFC 9112 §6.3).
describe('a request whose type is named although it has no body', () => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ files })
  })
  after(() => server[Symbol.asyncDispose]())

  for (const [path, type, said] of [
    ['/todo', 'application/json', /it is empty/],
    ['/todo', 'text/plain', /must be application\/json/],
    ['/authorization/token', 'application/x-www-form-urlencoded', /"error":"invalid_/],
    ['/consumer/login', 'application/json', /it is empty/],
  ] as const) {
    test(`responds immediately: ${type} to ${path}`, async () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n`
      const answer = await exchange(server.port, head)
      assert.match(answer, /^HTTP\/1\.1 4\d\d /)
      assert.match(answer, said)
    })
  }
})

// Generated clients send a content type whenever a body is possible.
test('an empty body is accepted where no request is declared', async () => {
  await using server = await openProjectServer({ files })
  const headers = { 'content-type': 'application/json' }
  for (const body of [undefined, '']) {
    const posted = await fetch(`${server.url}/open`, {
      method: 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
    })
    assert.deepEqual([posted.status, await posted.text()], [200, '{}'])
    const deleted = await fetch(`${server.url}/open`, {
      method: 'DELETE',
      headers,
      ...(body === undefined ? {} : { body }),
    })
    assert.deepEqual([deleted.status, await deleted.text()], [204, ''])
  }
})

/** Writes a text and returns what was received until the other side closed. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (part: string) => (answer += part))
  socket.write(text)
  await once(socket, 'close', { signal: AbortSignal.timeout(abortTimeoutMs) })
  return answer
}

test("an empty body is accepted by Waypost's own endpoints that need none", async () => {
  await using server = await openProjectServer({ files })
  for (const [method, path] of [
    ['DELETE', '/consumer/subscription/sub_1'],
    ['POST', '/consumer/subscription/sub_1/secret'],
    ['DELETE', '/backend/variable/NAME'],
  ] as const) {
    const response = await fetch(`${server.url}${path}`, { method, headers: { 'content-type': 'application/json' } })
    assert.equal(response.status, 401, `${method} ${path}`) // and not 400
  }
  const login = { method: 'POST', headers: { 'content-type': 'application/json' } }
  assert.equal((await fetch(`${server.url}/consumer/login`, login)).status, 400)
})
