import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import Fastify from 'fastify'
import { LeanRequest } from '../../src/runtime/lean-messages.ts'
import { decoratePrincipal } from '../../src/runtime/authorization.ts'
import type { Principal } from '../../src/contract/index.ts'
import { until } from '../support/until.ts'
import { send } from '../support/send.ts'
import { openSite, get, openStalling } from './connection-site.ts'

test('a new connection beyond the limit replaces the one that was idle longest', async () => {
  await using site = await openSite(3)
  const [busy, first, second] = [await site.open(), await site.open(), await site.open()]
  busy.socket.write(get('/slow'))
  first.socket.write(get('/first')) // so that the second has been idle longer
  await first.until(/<\/first>/)
  const third = await site.open()
  third.socket.write(get('/third'))
  await third.until(/<\/third>/)
  await second.closed
  const fourth = await site.open()
  fourth.socket.write(get('/fourth'))
  await fourth.until(/<\/fourth>/)
  await first.closed
  assert.deepEqual(site.full, [3], 'it is told once a minute')
  site.answerSlow()
  await busy.until(/<slow>/)
})

export const post = (length: number, sent: string) =>
  `POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${sent}`

test('a new connection beyond the limit replaces the one whose body has been arriving longest, callers with tokens last', async () => {
  await using site = await openSite(3)
  site.onRequest = (request) => {
    if (request.headers['authorization'] !== undefined) (request as LeanRequest).isAuthorized = true
  }
  const [known, complete, slow] = [await site.open(), await site.open(), await site.open()]
  known.socket.write(post(100, 'x').replace('Host', 'Authorization: Bearer a\r\nHost'))
  complete.socket.write(post(4, 'done'))
  slow.socket.write(post(100, 'x'))
  await until('all have begun', () => site.begun.length === 3)
  const next = await site.open()
  next.socket.write(post(100, 'x'))
  await slow.closed
  await until('it has begun', () => site.begun.length === 4)
  const last = await site.open()
  await next.closed
  last.socket.write(get('/slow'))
  await until('it has begun', () => site.begun.length === 5)
  assert.equal((await send(site.gateway.port, { path: '/after' })).text, '</after>')
  await known.closed
  site.answerSlow() // of the closed connection
  site.answerSlow()
  await complete.until(/<slow>/)
})

test('a body that has barely begun to arrive after ten checks ends its connection, unless it has a valid token', async () => {
  await using stalling = await openStalling()
  const { site, check } = stalling
  site.onRequest = (request) => {
    if (request.headers['authorization'] !== undefined) (request as LeanRequest).isAuthorized = true
  }
  const large = 17 * 1024
  const [slow, known, arriving, complete] = [await site.open(), await site.open(), await site.open(), await site.open()]
  // A connection that has sent a request without a body counts what arrives with the headers of the next one, too.
  const kept = await site.open()
  kept.socket.write(get('/read'))
  await kept.until(/<\/read>/)
  kept.socket.write(post(100_000, 'x'.repeat(large)))
  slow.socket.write(post(large, 'x'))
  known.socket.write(post(100, 'x').replace('Host', 'Authorization: Bearer a\r\nHost'))
  arriving.socket.write(post(100_000, 'x'.repeat(large)))
  complete.socket.write(post(4, 'done'))
  await until('all have begun', () => site.begun.length === 6)
  await send(site.gateway.port, { path: '/read' }) // by now, what was sent before has been read
  for (let time = 0; time < 10; time += 1) check()
  await slow.closed
  for (const one of [known, arriving, complete, kept]) assert.equal(one.socket.destroyed, false)
})

test('a body may arrive for 60 checks, or as many as its method allows', async () => {
  await using stalling = await openStalling()
  const { site, check } = stalling
  site.onRequest = (request) => {
    if (request.headers['authorization'] !== undefined) (request as LeanRequest).maxSeconds = 100
  }
  const [slow, upload] = [await site.open(), await site.open()]
  const body = post(100_000, 'x'.repeat(17 * 1024))
  slow.socket.write(body)
  upload.socket.write(body.replace('Host', 'Authorization: Bearer a\r\nHost'))
  await until('both have begun', () => site.begun.length === 2)
  await send(site.gateway.port, { path: '/read' })
  for (let time = 0; time < 60; time += 1) check()
  await slow.closed
  assert.equal(upload.socket.destroyed, false)
  for (let time = 0; time < 40; time += 1) check()
  await upload.closed
})

test('callers are known to be authorized, whichever routes have found out', async () => {
  const app = Fastify({ serverFactory: (handler) => createServer({ IncomingMessage: LeanRequest }, handler) })
  decoratePrincipal(app)
  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers
    if (authorization !== undefined) request.principal = { scopes: [authorization] } as unknown as Principal
  })
  app.post('/', async ({ principal, raw }) => [principal?.scopes, (raw as LeanRequest).isAuthorized === true])
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const post = { method: 'POST', path: '/' }
  assert.deepEqual((await send(port, post)).body, [null, false])
  assert.deepEqual((await send(port, { ...post, headers: { authorization: 'a' } })).body, [['a'], true])
  await app.close()
})

test('while every connection is busy new ones are rejected, until one is free', async () => {
  await using site = await openSite(2)
  const [one, two] = [await site.open(), await site.open()]
  for (const { socket } of [one, two]) socket.write(get('/slow'))
  while (site.begun.length < 2) await new Promise(setImmediate)
  const refused = await site.open()
  await refused.closed
  assert.equal(refused.received(), '')
  site.answerSlow()
  await one.until(/<slow>/)
  assert.equal((await send(site.gateway.port, { path: '/again' })).text, '</again>')
})
