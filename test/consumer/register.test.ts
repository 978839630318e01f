import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { countRegistration } from '../../src/auth/account/throttle.ts'
import { addUser, loadUserScopes } from '../../src/auth/index.ts'
import { openWorld, password, type World } from '../auth/world.ts'
import { defaultKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'

const wrong: readonly { name: string; json: unknown; path?: string; detail?: RegExp }[] = [
  { name: 'no name', json: { password }, path: 'body/username' },
  { name: 'no password', json: { username: 'new' }, path: 'body/password' },
  { name: 'a password that is too short', json: { username: 'new', password: '1234567' }, detail: /8 to 1,024/ },
  {
    name: 'a password that is the username',
    json: { username: 'somebody', password: 'Somebody' },
    detail: /must not be the username/,
  },
  {
    name: 'a password that is the name before the @ of the email address',
    json: { username: 'new', password: 'Some Body ', email: 'some.body@example.com' },
    detail: /must not be the username/,
  },
  { name: 'a password that is too long', json: { username: 'new', password: 'xy'.repeat(513) }, detail: /8 to 1,024/ },
  {
    name: 'a password that nothing makes shorter',
    json: { username: 'new', password: 'x'.repeat(4097) },
    path: 'body/password',
  },
  { name: 'a name with a space', json: { username: 'a b', password }, detail: /"a b" is not a valid name/ },
  { name: 'a name with markup', json: { username: '<b>', password }, detail: /is not a valid name/ },
  { name: 'a name in another script', json: { username: 'аnn', password }, detail: /is not a valid name/ },
  { name: 'a name that is too long', json: { username: 'a'.repeat(65), password }, path: 'body/username' },
  { name: 'an address that is none', json: { username: 'new', password, email: 'new' }, path: 'body/email' },
  { name: 'scopes', json: { username: 'new', password, scopes: ['backend.admin'] }, path: 'body/scopes' },
  { name: 'a list', json: [], path: 'body' },
]

for (const kind of defaultKinds) {
  describe(`registration on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind, { config: { registration: true, scopes_default: ['consumer', 'todo'] } })
    })
    after(() => world.close())
    const register = (json: unknown) => world.send('POST /consumer/register', { json })

    test('creates a user with the default scopes, who can log in', async () => {
      const answer = await register({ username: 'carl', password, email: 'carl@example.com' })
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const { id, created, ...rest } = answer.body
      assert.deepEqual(rest, { name: 'carl', email: 'carl@example.com', scopes: ['consumer', 'todo'] })
      assert.equal(created, new Date(created).toISOString())
      assert.deepEqual(await loadUserScopes(world.system.db, id), ['consumer', 'todo'])
      const { body } = await world.logIn({ json: { username: 'carl', password } })
      assert.equal(body.scope, 'consumer todo')
      assert.deepEqual((await world.send('GET /consumer/account', { headers: bearer(body.token) })).body, answer.body)
    })

    for (const { name, json, path, detail } of wrong) {
      test(`rejects ${name}`, async () => {
        const answer = await register(json)
        assert.equal(answer.status, 400, answer.text)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        if (path !== undefined) assert.equal(answer.body.errors[0].path, path)
        if (detail !== undefined) assert.match(answer.body.detail, detail)
      })
    }

    test('reads at most 16 KB', async () => {
      const answer = await register({ username: 'large', password, more: 'a'.repeat(16_384) })
      assert.equal(answer.status, 413, answer.text)
    })

    test('reports only that a name is taken', async () => {
      const answers = await Promise.all(['ann', 'ANN', 'Carl'].map((username) => register({ username, password })))
      for (const answer of answers) {
        assert.equal(answer.status, 409)
        assert.equal(answer.text, answers[0]!.text)
        assert.doesNotMatch(answer.text, /\bann\b|carl|waypost user/i)
      }
      assert.equal((await world.logIn()).status, 200)
    })

    for (const name of ['Waypost', 'my-waypost', 'wayp0st']) {
      test(`rejects ${name}, which a consent page would show as a source`, async () => {
        const answer = await register({ username: name, password })
        assert.equal(answer.status, 409, answer.text)
      })
    }

    const reserved = [
      'admin',
      'Administrator',
      'r00t',
      'supp0rt',
      'SECURITY',
      'web-master',
      'adm1n',
      'adrnin',
      '@dmin',
      'no-reply',
    ]
    for (const name of [
      ...reserved,
      'abuse@example.com',
      'postmaster+1@example.com',
      'support-team',
      'admin_1',
      'b1lling',
    ]) {
      test(`rejects ${name}, which looks like the operator of the service`, async () => {
        const answer = await register({ username: name, password })
        assert.equal(answer.status, 409, answer.text)
      })
    }

    test('reserves complete names only, and not for the operator', async () => {
      await addUser(world.system, { name: 'support', password, scopes: [] })
      for (const username of ['john.root', 'supporter', '1234']) {
        assert.equal((await register({ username, password })).status, 201)
      }
    })

    test('gives a name to one of several concurrent requests, in any case', async () => {
      const names = ['dora', 'dora', 'Dora', 'DORA']
      const answers = await Promise.all(names.map((username) => register({ username, password })))
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((one, other) => one - other),
        [201, 409, 409, 409],
      )
    })

    test('is throttled by address, across all servers, and is possible again after an hour', async () => {
      const second = await world.startSecond()
      try {
        const attempts = Array.from({ length: 100 }, () => register({ username: 'ann', password }))
        const statuses = (await Promise.all(attempts)).map(({ status }) => status)
        assert.ok(statuses.includes(429), statuses.join(' '))
        const answer = await second.send('POST /consumer/register', { json: { username: 'erik', password } })
        assert.equal(answer.status, 429)
        const seconds = Number(answer.headers.get('retry-after'))
        assert.ok(seconds > 3000 && seconds <= 3600, `Retry-After: ${seconds}`)
        world.clock.forward(3_600_000)
        assert.equal((await register({ username: 'erik', password })).status, 201)
      } finally {
        await second.close()
      }
    })

    test('is possible ten times in an hour from a public address, an IPv6 one by its /64', async () => {
      const { system, clock } = world
      const count = (address: string) => countRegistration(system, clock, address)
      for (const [first, same, other] of [
        ['203.0.113.7', '::ffff:203.0.113.7', '203.0.113.8'],
        ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
      ] as const) {
        for (let attempt = 0; attempt < 10; attempt++) await count(first)
        await assert.rejects(count(same), { code: 'WP_AUTH_REGISTRATIONS', status: 429 })
        await count(other)
      }
    })

    test('logs none of these requests', () => assert.deepEqual(world.log, []))
  })

  describe(`registration that is off on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())

    test('returns 404 for any request', async () => {
      const elsewhere = await world.send('POST /consumer/nothing', { json: {} })
      for (const json of [{ username: 'carl', password }, {}, null]) {
        const answer = await world.send('POST /consumer/register', { json })
        assert.equal(answer.status, 404)
        assert.equal(answer.text.replaceAll('register', 'nothing'), elsewhere.text)
      }
      assert.equal((await world.logIn({ json: { username: 'carl', password } })).status, 401)
    })

    test('logs none of these requests', () => assert.deepEqual(world.log, []))
  })
}
