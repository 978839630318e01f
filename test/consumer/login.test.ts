import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { argon2Sync, randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { addUser, loginClientId } from '../../src/auth/index.ts'
import { beginSession, findSession } from '../../src/auth/authorize/session.ts'
import { sha256 } from '../../src/kit/index.ts'
import { maxConcurrentHashes, verifyPassword } from '../../src/auth/account/passwords.ts'
import { defaultKinds, isLong } from '../support/forms.ts'
import { bearer, type TestRequest } from '../support/server.ts'
import { openWorld, password, setStatus, type World } from '../auth/world.ts'

const quarter = 15 * 60_000
const say = (username: unknown, word: unknown = password): TestRequest => ({ json: { username, password: word } })

/** The hash of a password at a cost that no server chooses. */
function hashCheaply(message: string): string {
  const nonce = randomBytes(16)
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32, nonce }
  const texts = [nonce, argon2Sync('argon2id', { ...cost, message })].map((bytes) =>
    bytes.toString('base64').replace(/=+$/, ''),
  )
  return `$argon2id$v=19$m=8,t=1,p=1$${texts.join('$')}`
}

const refused: readonly { name: string; request: TestRequest; status: number; detail?: string; errors?: string[] }[] = [
  { name: 'a wrong password', request: say('ann', 'wrong'), status: 401 },
  { name: 'a password with a difference at its end', request: say('ann', `${password} `), status: 401 },
  { name: 'an unknown name', request: say('bob'), status: 401 },
  { name: 'a name in other letters', request: say('Ann'), status: 401 },
  { name: 'a name that no database can hold', request: say('a\0n'), status: 400 },
  { name: 'half of a character', request: say('\ud800', '\udfff'), status: 400 },
  { name: 'SQL', request: say("ann' --", "' or '1'='1"), status: 401 },
  { name: 'a user without a password', request: say('robot', 'x'), status: 401 },
  { name: 'no password', request: { json: { username: 'ann' } }, status: 400, errors: ['body/password'] },
  { name: 'no name', request: { json: { password } }, status: 400, errors: ['body/username'] },
  { name: 'an empty name', request: say(''), status: 400, errors: ['body/username'] },
  { name: 'a name that is no text', request: say(['ann']), status: 400, errors: ['body/username'] },
  { name: 'a name that is too long', request: say('a'.repeat(65)), status: 400, errors: ['body/username'] },
  {
    name: 'a password that is too long',
    request: say('ann', 'x'.repeat(4097)),
    status: 400,
    errors: ['body/password'],
  },
  { name: 'a password that is longer than any', request: say('ann', 'x'.repeat(1025)), status: 401 },
  { name: 'a list', request: { json: [] }, status: 400, errors: ['body'] },
  { name: 'null', request: { json: null }, status: 400 },
  {
    name: 'a body that is no JSON',
    request: { headers: { 'content-type': 'application/json' }, body: `{"username": "ann", "password": "${password}` },
    status: 400,
    detail: 'The JSON body is not valid: it cannot be parsed',
  },
  {
    name: 'a body with a prototype',
    request: { headers: { 'content-type': 'application/json' }, body: '{"__proto__": {"username": "ann"}}' },
    status: 400,
  },
  { name: 'a form', request: { form: { username: 'ann', password } }, status: 415 },
  {
    name: 'more than 16 KB',
    request: { json: { username: 'ann', password, more: 'a'.repeat(16_384) } },
    status: 413,
    detail: 'The body is larger than 16384 bytes',
  },
  { name: 'no body', request: {}, status: 400 },
]

for (const kind of defaultKinds) {
  describe(`login on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
      await addUser(world.system, { name: 'robot', scopes: [] })
    })
    after(() => world.close())
    const renew = (refreshToken: unknown) =>
      world.send('PUT /consumer/login', { json: { refresh_token: refreshToken } })

    test('reads at most 16 KB of a refresh token too', async () => {
      assert.equal((await renew('a'.repeat(16_384))).status, 413)
    })

    test('returns a token with every scope of the user', async () => {
      const answer = await world.logIn()
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const { token, refresh_token: refreshToken, ...rest } = answer.body
      assert.deepEqual(rest, { token_type: 'bearer', expires_in: 3600, scope: 'consumer note todo' })
      assert.equal(typeof refreshToken, 'string')
      assert.equal(decodeJwt(token)['client_id'], loginClientId)
      const used = await world.send('GET /todo', { headers: bearer(token) })
      assert.deepEqual(used.body, { user: 'ann', scopes: ['consumer', 'note', 'todo'] })
    })

    for (const { name, request, status, detail, errors } of refused) {
      test(`rejects ${name} with ${status}`, async () => {
        const answer = await world.send('POST /consumer/login', request)
        assert.equal(answer.status, status, answer.text)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.equal(answer.body.token, undefined)
        if (status === 401) assert.equal(answer.body.detail, 'Wrong username or password')
        if (detail !== undefined) assert.equal(answer.body.detail, detail)
        if (errors !== undefined)
          assert.deepEqual(
            answer.body.errors.map((one: { path: string }) => one.path),
            errors,
          )
      })
    }

    test('rejects a disabled user like a wrong password', async () => {
      const user = await addUser(world.system, { name: 'gone', password, scopes: [] })
      assert.equal((await world.send('POST /consumer/login', say('gone'))).status, 200)
      await setStatus(world.system, 'user', { id: user.id, status: 'disabled' })
      const answer = await world.send('POST /consumer/login', say('gone'))
      assert.equal(answer.status, 401)
      assert.equal(answer.text, (await world.send('POST /consumer/login', say('nobody'))).text)
    })

    test('replaces the hash of a password as it was typed, which ends no session, also for two logins at once', async () => {
      const [composed, decomposed] = ['Caf\u00E9 au lait', 'Cafe\u0301 au lait']
      const { id } = await addUser(world.system, { name: 'zoe', password: composed, scopes: [] })
      const stored = hashCheaply(decomposed)
      const { db } = world.system
      await db.updateTable('waypost_user').set({ password_hash: stored }).where('id', '=', id).execute()
      const { system, clock } = world.host
      const before = { id, name: 'zoe', email: null, status: 'active' as const, passwordCheck: sha256(stored) }
      const session = await beginSession({ system, clock }, before, undefined)
      const statusOf = async (word: string) => (await world.send('POST /consumer/login', say('zoe', word))).status
      assert.equal(await statusOf(composed), 401, 'it was never typed like this')
      assert.deepEqual(await Promise.all([statusOf(decomposed), statusOf(decomposed)]), [200, 200])
      assert.equal(await statusOf(composed), 200)
      assert.equal(await statusOf(`${decomposed}.`), 401)
      assert.equal((await findSession({ system, clock }, session))?.userId, id)
      const row = db.selectFrom('waypost_user').select('password_hash').where('id', '=', id)
      assert.equal(await verifyPassword(system, composed, (await row.executeTakeFirstOrThrow()).password_hash), 'right')
    })

    test('returns a token to a user without scopes, valid where none is required', async () => {
      await addUser(world.system, { name: 'plain', password, scopes: [] })
      const { body } = await world.send('POST /consumer/login', say('plain'))
      assert.equal(body.scope, '')
      assert.equal((await world.send('GET /any', { headers: bearer(body.token) })).status, 200)
      assert.equal((await world.send('GET /todo', { headers: bearer(body.token) })).status, 403)
      assert.equal((await renew(body.refresh_token)).status, 200)
    })

    test('is renewed by its refresh token', async () => {
      const first = (await world.logIn()).body
      const answer = await renew(first.refresh_token)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.deepEqual(Object.keys(answer.body), ['token', 'token_type', 'expires_in', 'refresh_token', 'scope'])
      assert.notEqual(answer.body.token, first.token)
      assert.equal((await world.send('GET /todo', { headers: bearer(answer.body.token) })).status, 200)
    })

    test('is renewed at the token endpoint as well, as the public client that it belongs to', async () => {
      const { body } = await world.logIn()
      const answer = await world.send('POST /authorization/token', {
        form: { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: loginClientId },
      })
      assert.equal(answer.status, 200)
      assert.equal(answer.body.scope, 'consumer note todo')
    })

    test('ends everywhere when a refresh token is used again later', async () => {
      const first = (await world.logIn()).body
      const second = (await renew(first.refresh_token)).body
      world.clock.forward(11_000)
      assert.equal((await world.send('GET /any', { headers: bearer(second.token) })).status, 200)
      const answer = await renew(first.refresh_token)
      assert.equal(answer.status, 401)
      assert.match(answer.body.detail, /^The login cannot be refreshed: /)
      assert.equal((await world.send('GET /any', { headers: bearer(second.token) })).status, 401)
      assert.equal((await renew(second.refresh_token)).status, 401)
    })

    for (const [name, value, status] of [
      ['an unknown token', 'x', 401],
      ['an access token', 'a.b.c', 401],
      ['nothing', '', 400],
      ['no text', { a: 1 }, 400],
      ['a very long text', 'x'.repeat(513), 400],
    ] as const) {
      test(`is not renewed by ${name}`, async () => {
        const answer = await renew(value)
        assert.equal(answer.status, status, answer.text)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
      })
    }

    for (const name of ['victim', 'no-such-user']) {
      test(`throttles the name ${name} after ten wrong passwords from an address, and no other name`, async () => {
        if (name === 'victim') await addUser(world.system, { name, password, scopes: [] })
        const wrong = () => world.send('POST /consumer/login', say(name, 'wrong'))
        const answers = await Promise.all(Array.from({ length: 10 }, wrong))
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
        assert.equal(answers[0]!.headers.get('www-authenticate'), 'Bearer realm="waypost"')
        const answer = await world.send('POST /consumer/login', say(name)) // even with the right one
        assert.equal(answer.status, 429)
        const seconds = Number(answer.headers.get('retry-after'))
        assert.ok(seconds > 800 && seconds <= 900, `Retry-After: ${seconds}`)
        assert.equal((await world.logIn()).status, 200)
        world.clock.forward(quarter)
        assert.equal((await world.send('POST /consumer/login', say(name))).status, name === 'victim' ? 200 : 401)
      })
    }

    test('forgets wrong passwords when the right one comes', async () => {
      await addUser(world.system, { name: 'clumsy', password, scopes: [] })
      const statuses: number[] = []
      for (let round = 0; round < 3; round++) {
        for (let attempt = 0; attempt < 6; attempt++) {
          statuses.push(
            (await world.send('POST /consumer/login', say('clumsy', attempt === 5 ? password : 'no'))).status,
          )
        }
      }
      assert.deepEqual(
        statuses,
        [401, 401, 401, 401, 401, 200, 401, 401, 401, 401, 401, 200, 401, 401, 401, 401, 401, 200],
      )
    })

    test('is throttled by the count of another server of the same System', async () => {
      const second = await world.startSecond()
      try {
        for (let attempt = 0; attempt < 10; attempt++) await world.send('POST /consumer/login', say('shared', 'wrong'))
        assert.equal((await second.send('POST /consumer/login', say('shared', 'wrong'))).status, 429)
      } finally {
        await second.close()
      }
    })

    test('returns 429 while too many passwords wait to be hashed, and does not count the attempt', async () => {
      await addUser(world.system, { name: 'late', password, scopes: [] })
      // Each filler takes its place in the turn in which it leaves it, so no request meets a gap.
      const filling = new AbortController()
      const hash = hashCheaply('y')
      const fill = (): Promise<unknown> =>
        verifyPassword({ isDisposable: false }, 'x', hash).then(() => filling.signal.aborted || fill())
      const fillers = Array.from({ length: maxConcurrentHashes + 64 }, fill)
      const count = isLong ? 8 : 2
      const late = () =>
        Promise.all(Array.from({ length: count }, () => world.send('POST /consumer/login', say('late'))))
      const busy = [...(await late()), ...(isLong ? await late() : [])]
      filling.abort()
      await Promise.all(fillers)
      for (const answer of busy) {
        assert.equal(answer.status, 429)
        assert.equal(answer.body.detail, 'Too many logins at the same time')
        assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
      }
      assert.equal((await world.send('POST /consumer/login', say('late'))).status, 200)
    })

    test('logs no password and no other input', () => {
      assert.deepEqual(world.log, [])
    })
  })
}
