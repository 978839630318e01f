import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { text } from 'node:stream/consumers'
import { resolveRedirect, redirectUrisOf } from '../../../src/auth/authorize/resolve-redirect.ts'
import { PageError } from '../../../src/auth/errors.ts'
import { docsClientId } from '../../../src/auth/index.ts'
import { openLine, type Line } from '../../support/line.ts'
import { openWorld, password } from '../world.ts'
import { callback, makeVisitor, readPage, requestOf, writeQuery } from './visitor.ts'

test('requests with arbitrary bytes are answered, and the bytes are returned escaped where HTTP allows them', async () => {
  await using world = await openWorld('sqlite')
  const client = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
  const query = writeQuery(requestOf(client, { response_type: 'token', prompt: 'none', state: undefined }))
  const ask = (state: Buffer) =>
    sendTarget(world.url, Buffer.concat([Buffer.from(`/authorization/authorize?${query}&state=`), state]))
  const { status, location = '' } = await ask(Buffer.from('"<>\\^`{|}'))
  assert.equal(status, 303)
  assert.ok(location.endsWith('&state=%22%3C%3E%5C%5E%60%7B%7C%7D'), location)
  for (let byte = 0; byte < 256; byte += byte < 127 ? 1 : 16) {
    const answer = await ask(Buffer.from([0x61, byte, 0x62]))
    assert.ok(answer.status === 303 || answer.status === 400, `${byte}: ${answer.status}`)
    assert.match(answer.location ?? '', /^[\x21-\x7E]*$/)
  }
})

/** Sends a target unchanged, and reads the status line of the response and its Location. */
async function sendTarget(url: string, target: Buffer): Promise<{ status: number; location: string | undefined }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const end = Buffer.from(' HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  socket.write(Buffer.concat([Buffer.from('GET '), target, end]))
  const answer = await text(socket)
  const location = /^location: (.*)\r$/im.exec(answer)?.[1]
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), location }
}

test('the reference is reached by any name of this machine in development, and by the issuer alone elsewhere', async () => {
  const client = { id: docsClientId, redirectUris: [] }
  const here = { backendUrl: undefined, hasPortal: false, host: 'localhost:3000' }
  const at = { issuer: 'https://api.example.com/v1', ...here }
  assert.deepEqual(redirectUrisOf(client, { ...at, isDevelopment: false }), [
    'https://api.example.com/v1/docs/signed-in',
  ])
  assert.deepEqual(
    redirectUrisOf(client, { ...here, issuer: 'http://localhost:3000', isDevelopment: true }).toSorted(),
    [
      'http://127.0.0.1/docs/signed-in',
      'http://[::1]/docs/signed-in',
      'http://localhost/docs/signed-in',
      'http://localhost:3000/docs/signed-in',
    ],
  )
  await using world = await openWorld('sqlite')
  const address = (redirectUri: string, isDevelopment: boolean) => {
    const query = writeQuery(requestOf({ id: docsClientId }, { redirect_uri: redirectUri }))
    return resolveRedirect({ ...at, system: world.system, isDevelopment }, query)
  }
  const local = 'http://127.0.0.1:3001/docs/signed-in'
  assert.equal((await address(local, true)).redirectUri, local)
  await assert.rejects(address(local, false), PageError)
})

test('without System the pages report it and lose no request: flows continue when it is back', async () => {
  let line: Line | undefined
  const rewriteUrl = async (url: string) => {
    line ??= await openLine(url)
    return line.through(url)
  }
  await using world = await openWorld('postgresql', { rewriteUrl })
  const client = await world.addClient({ grants: ['authorization_code'], redirectUris: [callback] })
  const visitor = makeVisitor(world)
  const login = await visitor.authorize(requestOf(client))
  try {
    await line!.cut()
    for (const answer of [
      await visitor.authorize(requestOf(client)),
      await visitor.submit(login, 'login', { username: 'ann', password }),
    ]) {
      assert.equal(answer.status, 503)
      assert.ok(Number(answer.headers.get('retry-after')) > 0)
      assert.match(readPage(answer), /Try again in a moment .* It is logged as request \w+/)
      assert.equal(answer.headers.get('location'), null)
    }
    await line!.mend()
    assert.equal((await visitor.logIn(login)).status, 303)
  } finally {
    await line!.close()
  }
})
