import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { loginClientId } from '../../src/auth/index.ts'
import { setPassword } from '../../src/auth/access/administer.ts'
import { sha256 } from '../../src/kit/index.ts'
import { password } from '../auth/world.ts'
import { callback, makeVisitor, readCode, requestOf, verifier } from '../auth/authorize/visitor.ts'
import { defaultKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openPeople, sendAs, type People } from './people.ts'

const better = 'a better horse battery'

const wrongAccounts: readonly { name: string; json: unknown; path: string }[] = [
  { name: 'an address that is none', json: { email: 'ann' }, path: 'body/email' },
  { name: 'an address with a line break', json: { email: 'ann@example.com\nBcc: x@example.com' }, path: 'body/email' },
  { name: 'a very long address', json: { email: `${'a'.repeat(250)}@example.com` }, path: 'body/email' },
  { name: 'nothing', json: {}, path: 'body/email' },
  { name: 'another name', json: { email: null, name: 'root' }, path: 'body/name' },
  { name: 'scopes', json: { email: null, scopes: ['backend.admin'] }, path: 'body/scopes' },
  { name: 'a list', json: [], path: 'body' },
]
const wrongPasswords: readonly { name: string; json: unknown; status: number }[] = [
  { name: 'a wrong old password', json: { old: 'wrong', new: better }, status: 403 },
  { name: 'a new password that is too short', json: { old: password, new: '1234567' }, status: 400 },
  { name: 'a new password that is the username', json: { old: password, new: 'Careful-Person' }, status: 400 },
  { name: 'a new password that is too long', json: { old: password, new: 'x'.repeat(1025) }, status: 400 },
  { name: 'no old password', json: { new: better }, status: 400 },
  { name: 'no new password', json: { old: password }, status: 400 },
  { name: 'a number', json: { old: password, new: 12_345_678 }, status: 400 },
  { name: 'another user', json: { old: password, new: better, name: 'bob' }, status: 400 },
]

for (const kind of defaultKinds) {
  describe(`the account on ${kind}`, () => {
    let people: People
    before(async () => {
      people = await openPeople(kind)
    })
    after(() => people.close())

    test('returns its user', async () => {
      const ann = await people.come('ann')
      const answer = await ann.send('GET /consumer/account')
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const { created, ...rest } = answer.body
      assert.deepEqual(rest, { id: ann.id, name: 'ann', email: null, scopes: ['consumer', 'note', 'todo'] })
      assert.ok(Math.abs(Date.parse(created) - Date.now()) < 600_000, created)
    })

    test('accepts another email address, and null', async () => {
      const ann = await people.come('ann')
      const changed = await ann.send('PATCH /consumer/account', { email: 'ann@example.com' })
      assert.equal(changed.status, 200)
      assert.equal(changed.body.email, 'ann@example.com')
      assert.deepEqual((await ann.send('GET /consumer/account')).body, changed.body)
      assert.equal((await ann.send('PATCH /consumer/account', { email: null })).body.email, null)
      assert.equal((await (await people.come('bob')).send('GET /consumer/account')).body.email, null)
    })

    for (const { name, json, path } of wrongAccounts) {
      test(`rejects ${name}`, async () => {
        const answer = await (await people.come('ann')).send('PATCH /consumer/account', json)
        assert.equal(answer.status, 400, answer.text)
        assert.equal(answer.body.errors[0].path, path)
      })
    }

    test('can be read with the token of a client, and changed only with that of a login', async () => {
      const { token } = await people.lend('ann')
      const lent = sendAs(people, token)
      assert.equal((await lent('GET /consumer/account')).body.name, 'ann')
      for (const [line, json] of [
        ['PATCH /consumer/account', { email: 'mallory@example.com' }],
        ['PUT /consumer/account/password', { old: password, new: better }],
      ] as const) {
        const answer = await lent(line, json)
        assert.equal(answer.status, 403, line)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.equal(answer.body.detail, 'This operation requires a login token; yours was issued to a client')
      }
      assert.equal((await people.logIn()).status, 200)
    })

    for (const { name, json, status } of wrongPasswords) {
      test(`rejects ${name} with ${status}, and keeps the password`, async () => {
        const user = await people.come('careful-person')
        const answer = await user.send('PUT /consumer/account/password', json)
        assert.equal(answer.status, status, answer.text)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.equal(await people.use(user.token), 200)
        assert.equal((await people.logIn({ json: { username: 'careful-person', password } })).status, 200)
      })
    }

    test('rejects the email address as a new password, from its user and from an operator', async () => {
      const user = await people.come('reachable')
      await user.send('PATCH /consumer/account', { email: 'reach.able@example.com' })
      const answer = await user.send('PUT /consumer/account/password', { old: password, new: ' Reach Able ' })
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.body.detail, /must not be the username or the email address/)
      const change = { userId: user.id, password: 'reach.able@example.com', now: 0, keepTokens: true }
      await assert.rejects(setPassword(people.system, change), { code: 'WP_AUTH_PASSWORD_NAME' })
      assert.equal((await people.logIn({ json: { username: 'reachable', password } })).status, 200)
    })

    test('a password change keeps only the session of the caller', async () => {
      const other = await people.come('changer')
      const own = await people.come('changer')
      const lent = await people.lend('changer')
      await keepSession(people, own.id, 'a cookie')
      await keepCode(people, own.id, 'a code')
      assert.deepEqual(await Promise.all([other.token, lent.token].map((token) => people.use(token))), [200, 200])
      await addTokens(people, own.id, 1001) // more than a batch

      const answer = await own.send('PUT /consumer/account/password', { old: password, new: better })
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal(answer.headers.get('cache-control'), 'no-store')

      const tokens = people.system.db.selectFrom('waypost_token').select('jti').where('user_id', '=', own.id)
      assert.equal((await tokens.where('revoked_at', 'is', null).execute()).length, 1)
      assert.equal(await people.use(own.token), 200)
      assert.deepEqual(await Promise.all([other.token, lent.token].map((token) => people.use(token))), [401, 401])
      const renew = (refreshToken: string) =>
        people.send('PUT /consumer/login', { json: { refresh_token: refreshToken } })
      assert.equal((await renew(other.refreshToken)).status, 401)
      assert.equal((await renew(own.refreshToken)).status, 200)
      const refreshed = { grant_type: 'refresh_token', refresh_token: lent.refreshToken }
      assert.equal((await people.token(people.foreign, refreshed)).body.error, 'invalid_grant')
      const { db } = people.system
      for (const table of ['waypost_session', 'waypost_code'] as const) {
        assert.deepEqual(await db.selectFrom(table).selectAll().where('user_id', '=', own.id).execute(), [])
      }
      const logIn = (word: string) => people.logIn({ json: { username: 'changer', password: word } })
      assert.equal((await logIn(password)).status, 401)
      assert.equal((await logIn(better)).status, 200)
    })

    test('a password change limits what older tokens of the same login may do', async () => {
      const first = await people.come('renewer')
      const { body } = await people.send('PUT /consumer/login', { json: { refresh_token: first.refreshToken } })
      const second = sendAs(people, body.token)
      assert.equal((await second('PUT /consumer/account/password', { old: password, new: better })).status, 204)
      assert.equal(await people.use(first.token), 401)
      assert.equal(await people.use(body.token), 200)
    })

    test('a browser with a session must log in with the new password', async () => {
      const user = await people.come('browsing')
      const site = await people.addClient({
        scopes: ['todo'],
        grants: ['authorization_code'],
        redirectUris: [callback],
      })
      const visitor = makeVisitor(people)
      const request = requestOf(site, { scope: 'todo' })
      const page = await visitor.logIn(await visitor.authorize(request), { username: user.name })
      const code = readCode(await visitor.submit(page, 'consent', { decision: 'allow' }))
      readCode(await visitor.authorize(request)) // no consent needed
      assert.equal((await user.send('PUT /consumer/account/password', { old: password, new: better })).status, 204)
      assert.match((await visitor.authorize(request)).text, /type="password"/)
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback }
      assert.equal((await people.token(site, form)).body.error, 'invalid_grant')
    })

    test('changes its password once when two requests are concurrent', async () => {
      const user = await people.come('twice')
      const answers = await Promise.all(
        ['the first new one', 'the second new one'].map((word) =>
          user.send('PUT /consumer/account/password', { old: password, new: word }),
        ),
      )
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((one, other) => one - other),
        [204, 403],
      )
    })

    test('a password change ends everything that was issued for the old password', async () => {
      const user = await people.come('raced')
      const racing = new AbortController()
      const tokens: string[] = []
      const logInForever = async () => {
        while (!racing.signal.aborted) {
          const { body } = await people.logIn({ json: { username: 'raced', password } })
          if (body.token === undefined) return
          tokens.push(body.token)
        }
      }
      const racers = Promise.all([logInForever(), logInForever()])
      assert.equal((await user.send('PUT /consumer/account/password', { old: password, new: better })).status, 204)
      racing.abort()
      await racers
      for (const token of tokens) assert.equal(await people.use(token), 401)
      assert.equal(await people.use(user.token), 200)
    })

    test('is as hard to guess with a token as without one', async () => {
      const user = await people.come('guessed')
      const guess = () => user.send('PUT /consumer/account/password', { old: 'wrong', new: better })
      for (let attempt = 0; attempt < 10; attempt++) assert.equal((await guess()).status, 403)
      const answer = await user.send('PUT /consumer/account/password', { old: password, new: better })
      assert.equal(answer.status, 429)
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
      assert.equal((await people.logIn({ json: { username: 'guessed', password } })).status, 429)
    })

    test('tokens of other sessions are rejected on every server after a password change', async () => {
      const other = await people.come('abroad')
      const own = await people.come('abroad')
      const second = await people.startSecond()
      try {
        const useThere = async () => (await second.send('GET /todo', { headers: bearer(other.token) })).status
        assert.equal(await useThere(), 200)
        assert.equal((await own.send('PUT /consumer/account/password', { old: password, new: better })).status, 204)
        await until('it is refused', async () => (await useThere()) === 401)
      } finally {
        await second.close()
      }
    })

    test('logs none of these requests', () => assert.deepEqual(people.log, []))
  })
}

async function addTokens({ system, clock }: People, userId: string, count: number): Promise<void> {
  const now = clock.now()
  const row = { user_id: userId, client_id: loginClientId, scope: '', created_at: now, expires_at: now + 3_600_000 }
  const rows = Array.from({ length: count }, (_, index) => ({ ...row, jti: `${userId}-${index}` }))
  await system.db.insertInto('waypost_token').values(rows).execute()
}

async function keepSession({ system, clock }: People, userId: string, cookie: string): Promise<void> {
  const now = clock.now()
  const times = { created_at: now, password_at: now, expires_at: now + 3_600_000 }
  const row = { hash: sha256(cookie), user_id: userId, password_check: '', ...times }
  await system.db.insertInto('waypost_session').values(row).execute()
}

async function keepCode({ system, clock, foreign }: People, userId: string, code: string): Promise<void> {
  const now = clock.now()
  await system.db
    .insertInto('waypost_code')
    .values({
      hash: sha256(code),
      client_id: foreign.id,
      user_id: userId,
      redirect_uri: 'https://app.example.com/cb',
      scope: 'todo',
      separator: ' ',
      challenge: 'x'.repeat(43),
      created_at: now,
      expires_at: now + 60_000,
    })
    .execute()
}
