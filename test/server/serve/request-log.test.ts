import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeProxies } from '../../../src/runtime/proxies.ts'
import { makeRequestIds } from '../../../src/runtime/request-ids.ts'
import { actionFile } from '../../support/project-server.ts'
import { send } from '../../support/send.ts'
import { until } from '../../support/until.ts'
import { openServeSite } from './site.ts'

const files = {
  'waypost.yml':
    'routes:\n  /broken: { methods: { GET: { public: true, response: { type: object }, action: src/broken.ts } } }\n',
  'src/broken.ts': actionFile(`context.log.info('on the way'); throw new Error('out of order')`),
}

test('every line of a request has its id, the one of a trusted proxy where it gave one', async () => {
  await using site = await openServeSite()
  await site.deploy(files)
  const server = await site.start({}, { WAYPOST_TRUSTED_PROXIES: 'loopback' })
  const headers = { 'x-request-id': 'f1d2-4417' }
  const { status, body } = await send(server.port, { path: '/broken?code=hidden', headers })
  assert.equal(status, 500)
  assert.match(body.detail, /logged as request f1d2-4417/)
  await until('the last line', () => server.logs.some(({ msg }) => msg === 'request completed'))
  const lines = server.logs.filter(({ reqId }) => reqId === 'f1d2-4417')
  assert.deepEqual(
    lines.map(({ msg, path, status: told }) => [msg, path, told]),
    [
      ['on the way', undefined, undefined],
      ['request failed', undefined, undefined],
      ['request completed', '/broken', 500],
    ],
  )
})

test('an id is taken from trusted proxies only, and only one that is fit to be written', () => {
  const request = (address: string, id: string | undefined) =>
    ({ headers: { 'x-request-id': id }, socket: { remoteAddress: address } }) as never
  const ids = makeRequestIds(makeProxies(['10.0.0.0/8', 'fd00::5', 'loopback']))
  for (const [address, id, isTaken] of [
    ['10.1.2.3', 'a-1', true],
    ['::ffff:10.1.2.3', 'a-1', true],
    ['fd00::5', 'a-1', true],
    ['::1', 'a-1', true],
    ['11.1.2.3', 'a-1', false],
    ['fd00::6', 'a-1', false],
    ['10.1.2.3', undefined, false],
    ['10.1.2.3', '', false],
    ['10.1.2.3', 'a'.repeat(65), false],
    ['10.1.2.3', 'a\n{"level":60}', false],
    ['10.1.2.3', 'a, b', false],
  ] as const) {
    assert.equal(ids(request(address, id)) === id, isTaken, `${address} ${id}`)
  }
  const made = new Set(Array.from({ length: 100 }, () => ids(request('11.1.2.3', 'a-1'))))
  assert.equal(made.size, 100)
  assert.notEqual(makeRequestIds(undefined)(request('127.0.0.1', 'a-1')), 'a-1')
})
