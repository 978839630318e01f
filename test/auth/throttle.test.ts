import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setPassword } from '../../src/auth/access/administer.ts'
import { countAttempt, uncountAttempt, type Attempt } from '../../src/auth/account/throttle.ts'
import { addUser } from '../../src/auth/index.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { openWorld, password } from './world.ts'
import { chooseKinds } from '../support/forms.ts'

for (const kind of chooseKinds('postgresql')) {
  describe(`throttling on ${kind}`, () => {
    let server: TestServer
    before(async () => {
      server = await startTestServer({ kind, isUnusual: true })
    })
    after(() => server.close())

    /** How many of the attempts are allowed. */
    async function count(attempts: readonly Attempt[]): Promise<number> {
      const results = await Promise.allSettled(
        attempts.map((attempt) => countAttempt(server.host.system, server.clock, attempt)),
      )
      for (const result of results) {
        if (result.status === 'rejected') assert.equal(result.reason.code, 'WP_AUTH_THROTTLED')
      }
      return results.filter(({ status }) => status === 'fulfilled').length
    }
    const times = (length: number, make: (index: number) => Attempt) =>
      Array.from({ length }, (_, index) => make(index))
    const succeed = (attempt: Attempt) =>
      uncountAttempt(server.host.system, server.clock, { ...attempt, wasRight: true })

    test('allows ten attempts for a name from an address, counted exactly when they are concurrent', async () => {
      assert.equal(await count(times(15, () => ({ name: 'pair', address: '203.0.113.1' }))), 10)
      assert.equal(await count([{ name: 'pair', address: '203.0.113.2' }]), 1)
      assert.equal(await count([{ name: 'other', address: '203.0.113.1' }]), 1)
    })

    test('allows a hundred attempts from an address, with any names', async () => {
      assert.equal(await count(times(105, (index) => ({ name: `name${index}`, address: '203.0.113.3' }))), 100)
    })

    test('counts no private address for all names, since it is a proxy most often', async () => {
      for (const address of ['127.0.0.1', '10.1.2.3', '::1', '::ffff:192.168.0.1', 'fd00::1']) {
        assert.equal(await count(times(105, (index) => ({ name: `n${index}`, address }))), 105, address)
        server.clock.forward(15 * 60_000) // the same names for each address
      }
    })

    test('allows fifty attempts for a name from all unknown addresses, and any number from addresses of earlier logins', async () => {
      const home = { name: 'popular', address: '198.51.100.200' }
      await countAttempt(server.host.system, server.clock, home)
      await succeed(home)
      assert.equal(await count(times(60, (index) => ({ name: 'popular', address: `198.51.100.${index}` }))), 50)
      assert.equal(await count([home]), 1)
      assert.equal(await count([{ name: 'popular', address: '198.51.100.201' }]), 0)
      server.clock.forward(31 * 86_400_000)
      assert.equal(await count(times(60, (index) => ({ name: 'popular', address: `198.51.100.${index}` }))), 50)
      assert.equal(await count([home]), 0, 'what was 31 days ago does not count')
    })

    test('admits a user with a new password immediately, and no other user', async () => {
      const { id } = await addUser(server.host.system, { name: 'a_b', password, scopes: [] })
      const names = ['a_b', 'axb', 'a_b2']
      for (const name of names) assert.equal(await count(times(15, () => ({ name, address: '203.0.113.9' }))), 10)
      const change = { userId: id, password: 'another password', now: server.clock.now(), keepTokens: false }
      await setPassword(server.host.system, change)
      assert.deepEqual(await Promise.all(names.map((name) => count([{ name, address: '203.0.113.9' }]))), [1, 0, 0])
    })

    test('counts IPv6 addresses by their /64', async () => {
      const attempts = times(15, (index) => ({ name: 'six', address: `2001:db8:1:2::${index + 1}` }))
      assert.equal(await count(attempts), 10)
      assert.equal(await count([{ name: 'six', address: '2001:db8:1:3::1' }]), 1)
    })

    test('starts a new count when the window has ended, and not before', async () => {
      const attempt = { name: 'window', address: '203.0.113.9' }
      assert.equal(await count(times(10, () => attempt)), 10)
      server.clock.forward(14 * 60_000)
      assert.equal(await count([attempt]), 0)
      server.clock.forward(60_000)
      assert.equal(await count(times(11, () => attempt)), 10)
    })

    test('refunds attempts that were not verified', async () => {
      const attempt = { name: 'busy', address: '203.0.113.10' }
      assert.equal(await count(times(10, () => attempt)), 10)
      await uncountAttempt(server.host.system, server.clock, { ...attempt, wasRight: false })
      assert.equal(await count([attempt, attempt]), 1)
    })

    test('clears the name and address of an attempt that was right', async () => {
      const attempt = { name: 'right', address: '203.0.113.11' }
      assert.equal(await count(times(9, () => attempt)), 9)
      await succeed(attempt)
      assert.equal(await count(times(11, () => attempt)), 10)
    })

    test('distinguishes names that look like a name and an address', async () => {
      assert.equal(await count(times(10, () => ({ name: 'a 203.0.113.20', address: '203.0.113.21' }))), 10)
      assert.equal(await count([{ name: 'a', address: '203.0.113.20 203.0.113.21' }]), 1)
      assert.equal(await count([{ name: 'a\0b', address: '203.0.113.21' }]), 1)
    })
  })
}

for (const kind of chooseKinds('postgresql')) {
  test(`logins are counted across all servers of one System, on ${kind}, for known and unknown names`, async () => {
    await using world = await openWorld(kind)
    await using second = await world.startSecond()
    for (const username of ['ann', 'nobody']) {
      for (let count = 0; count < 10; count++) {
        const server = count % 2 === 0 ? world : second
        const answer = await server.send('POST /consumer/login', { json: { username, password: 'wrong wrong' } })
        assert.equal(answer.status, 401)
      }
      for (const server of [world, second]) {
        // The right password does not help, because it is not checked.
        const answer = await server.send('POST /consumer/login', { json: { username, password } })
        assert.equal(answer.status, 429)
        assert.equal(answer.body.type, 'urn:waypost:errors#WP_AUTH_THROTTLED')
        const seconds = Number(answer.headers.get('retry-after'))
        assert.ok(seconds > 800 && seconds <= 900, String(seconds))
        assert.doesNotMatch(answer.text, new RegExp(username))
      }
    }
    world.clock.forward(15 * 60_000)
    assert.equal((await second.send('POST /consumer/login', { json: { username: 'ann', password } })).status, 200)
  })
}
