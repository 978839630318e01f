import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTrustedProxies } from '../../src/host/read-variables.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const files = {
  'waypost.yml': `routes:
  /hello: { methods: { GET: { public: true, response: { type: object }, action: src/hello.ts } } }
`,
  'src/hello.ts': 'export default class Hello { async handle() { return {} } }\n',
}

/** Statuses of logins with a wrong password that claim to come from an address. */
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

test('the address of a login is taken from a trusted proxy: no caller can lock out other addresses', async () => {
  const variables = { LOG_LEVEL: 'silent', WAYPOST_TRUSTED_PROXIES: 'loopback' }
  await using server = await openProjectServer({ files, variables })
  assert.deepEqual((await logIn(server.port, '203.0.113.1', 11)).slice(9), [401, 429])
  assert.deepEqual(await logIn(server.port, '203.0.113.2', 1), [401])
  // what the caller writes precedes what the proxy adds
  assert.deepEqual(await logIn(server.port, '203.0.113.2, 203.0.113.1', 1), [429])
})

test('a caller is identified by its address, without its port, the notation of a proxy, or entries left of it', async () => {
  const files = {
    'waypost.yml': `routes:
  /hello: { methods: { GET: { public: true, rate: few, response: { type: object }, action: src/hello.ts } } }
rate: { few: { limit: 2, window: 1h, by: address } }
`,
    'src/hello.ts': actionFile('return {}'),
  }
  const variables = { LOG_LEVEL: 'silent', WAYPOST_TRUSTED_PROXIES: 'loopback,10.0.0.0/8' }
  await using server = await openProjectServer({ files, variables })
  const ask = async (address: string) => {
    const { status } = await send(server.port, { path: '/hello', headers: { 'x-forwarded-for': address } })
    return status
  }
  for (const callers of [
    ['203.0.113.1:1111', '203.0.113.1:2222', '203.0.113.1'],
    ['198.51.100.1, 203.0.113.2', '::ffff:203.0.113.2', '198.51.100.2:1,\t203.0.113.2:65535'],
    ['203.0.113.3:1, 10.0.0.7:2', '203.0.113.3, 10.0.0.8', 'x, 203.0.113.3:3,10.0.0.7:4, [::1]:5'],
    ['[2001:db8::1]:443', '2001:DB8:0:0::2', '[2001:db8::3]'],
    ['2001:db8:1::1%eth0', '[2001:db8:1::1%1]:80', '2001:db8:1::1'],
    // These contain no address, so the proxy itself counts.
    ['unknown', '203.0.113.4, unknown', '127.1'],
  ]) {
    assert.deepEqual(
      [await ask(callers[0]!), await ask(callers[1]!), await ask(callers[2]!)],
      [200, 200, 429],
      callers[0],
    )
  }
  assert.equal(await ask('_hidden, "203.0.113.5"'), 429)
  assert.equal(await ask('10.0.0.9:80'), 200, 'a proxy in front of which there is no other')
})

test('without trusted proxies the header is ignored', async () => {
  await using server = await openProjectServer({ files, variables: { LOG_LEVEL: 'silent' } })
  assert.deepEqual((await logIn(server.port, '203.0.113.1', 11)).slice(9), [401, 429])
  assert.deepEqual(await logIn(server.port, '203.0.113.2', 1), [429])
})

test('WAYPOST_TRUSTED_PROXIES accepts addresses, ranges and two names, and reports invalid entries', () => {
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
