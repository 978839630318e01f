import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTrustedProxies } from '../../src/host/read-variables.ts'
import { openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const files = {
  'waypost.yml': `routes:
  /hello: { methods: { GET: { public: true, response: { type: object }, action: src/hello.ts } } }
`,
  'src/hello.ts': 'export default class Hello { async handle() { return {} } }\n',
}

/** Statuses of logins with a wrong password that say that they come from an address. */
async function logIn(port: number, address: string, times: number): Promise<number[]> {
  const statuses: number[] = []
  for (let time = 0; time < times; time++) {
    const { status } = await send(port, {
      method: 'POST',
      path: '/consumer/login',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ username: 'ann', password: 'wrong password' }),
    })
    statuses.push(status)
  }
  return statuses
}

test('a proxy that is trusted says where a login comes from: nobody shuts out callers of other addresses', async () => {
  const variables = { LOG_LEVEL: 'silent', WAYPOST_TRUSTED_PROXIES: 'loopback' }
  await using server = await openProjectServer({ files, variables })
  assert.deepEqual((await logIn(server.port, '203.0.113.1', 11)).slice(9), [401, 429])
  assert.deepEqual(await logIn(server.port, '203.0.113.2', 1), [401])
  // what a caller writes himself stands before what the proxy adds
  assert.deepEqual(await logIn(server.port, '203.0.113.2, 203.0.113.1', 1), [429])
})

test('without one nobody is believed', async () => {
  await using server = await openProjectServer({ files, variables: { LOG_LEVEL: 'silent' } })
  assert.deepEqual((await logIn(server.port, '203.0.113.1', 11)).slice(9), [401, 429])
  assert.deepEqual(await logIn(server.port, '203.0.113.2', 1), [429])
})

test('WAYPOST_TRUSTED_PROXIES takes addresses, ranges and two names, and says what is none', () => {
  const read = (value: string) => readTrustedProxies({ WAYPOST_TRUSTED_PROXIES: value })
  assert.deepEqual(read(' 10.0.0.5,192.168.0.0/16  fd00::/8,loopback'), [
    '10.0.0.5',
    '192.168.0.0/16',
    'fd00::/8',
    'loopback',
  ])
  assert.deepEqual(readTrustedProxies({}), [])
  for (const value of ['*', 'true', '0.0.0.0/0', '10.0.0.0/33', '10.0.0.0/8/8', 'proxy.example.com', '10.0.0']) {
    assert.throws(() => read(value), { code: 'WP_SERVER_TRUSTED_PROXIES' }, value)
  }
})
