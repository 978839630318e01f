import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'

const files = {
  'waypost.yml': `routes:
  /search:
    methods:
      GET: { public: true, parameters: { s: { type: string } }, action: src/search.ts }
      POST: { public: true, request: { type: object }, action: src/search.ts }
`,
  'src/search.ts': actionFile('return { s: request.query.s }'),
}

let server: ProjectServer
before(async () => {
  server = await openProjectServer({ files })
})
after(() => server[Symbol.asyncDispose]())

/** Sends bytes as they are. @returns all that comes back, up to the end of the connection */
async function sendRaw(text: string): Promise<{ status: number; type: string | undefined; detail: string }> {
  const socket = connect(server.server.port, '127.0.0.1')
  socket.write(text)
  let answer = ''
  for await (const part of socket) answer += String(part)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const type = /^content-type: (.*)$/im.exec(head)?.[1]
  return { status: Number(head.split(' ')[1]), type, detail: (JSON.parse(body) as { detail: string }).detail }
}
const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
const post = (headers: string) =>
  `POST /search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n{}`
const type = 'application/problem+json'

for (const [what, text, status, detail] of [
  ['a query with raw letters', get('/search?größe=L'), 400, /^The path or the query string has characters/],
  ['a path with raw letters', get('/größe'), 400, /^The path or the query string has characters/],
  ['a header that is too long', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, /headers/],
  ['no HTTP', 'hello\r\n\r\n', 400, /^The request is not valid HTTP\/1\.1: /],
  ['a negative length', post('Content-Length: -1'), 400, /^The request is not valid HTTP\/1\.1: /],
  ['a length that is no number', post('Content-Length: 1e2'), 400, /^The request is not valid HTTP\/1\.1: /],
  ['two lengths', post('Content-Length: 2\r\nContent-Length: 3'), 400, /^The request is not valid HTTP\/1\.1: /],
  ['a length beside chunks', post('Content-Length: 2\r\nTransfer-Encoding: chunked'), 400, /not valid HTTP/],
  ['a query of another encoding', get('/search?s=%E4'), 400, /^The query string is not valid percent-encoded UTF-8$/],
  ['half an escape', get('/search?s=1%'), 400, /^The query string is not valid/],
  ['such a query of the pages', get('/authorization/whoami?a=%E4'), 400, /^The query string is not valid/],
  ['such a query of an endpoint', get('/consumer/event?a=%C3'), 400, /^The query string is not valid/],
] as const)
  test(`${what} is answered with a problem`, async () => {
    const answer = await sendRaw(text)
    assert.deepEqual([answer.status, answer.type], [status, type])
    assert.match(answer.detail, detail)
  })

test('a query in UTF-8 reaches the action', async () => {
  for (const text of ['ä', '%', '100% + 1', '\u{1F600}']) {
    const response = await fetch(`${server.url}/search?s=${encodeURIComponent(text)}`)
    assert.deepEqual(await response.json(), { s: text })
  }
})
