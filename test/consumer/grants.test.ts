import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { loginClientId } from '../../src/auth/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import { callback, makeVisitor, readCode, requestOf, verifier } from '../auth/authorize/visitor.ts'
import { defaultKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openPeople, sendAs, type People } from './people.ts'

for (const kind of defaultKinds) {
  describe(`grants given to clients on ${kind}`, () => {
    let people: People
    before(async () => {
      people = await openPeople(kind)
    })
    after(() => people.close())

    const consent = (userId: string, clientId: string, given: { scope: string; granted_at: number }) =>
      people.system.db
        .insertInto('waypost_consent')
        .values({ user_id: userId, client_id: clientId, ...given })
        .execute()
    const refresh = async (refreshToken: string) =>
      (await people.token(people.foreign, { grant_type: 'refresh_token', refresh_token: refreshToken })).body

    test('do not exist for logins and own clients', async () => {
      const user = await people.come('fresh')
      const { body } = await user.send('POST /consumer/client', { name: 'Own', scopes: ['todo'] })
      await people.token({ id: body.id, secret: body.secret }, { grant_type: 'client_credentials' })
      const answer = await user.send('GET /consumer/grant')
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.deepEqual(answer.body, { entry: [] })
    })

    test('are listed with client, scopes, since when and last use', async () => {
      const user = await people.come('giver')
      const site = await people.addClient({ name: 'Site', user: 'bob', scopes: ['todo'] })
      const grantedAt = Date.parse('2026-01-02T03:04:05.678Z')
      await consent(user.id, site.id, { scope: 'note todo', granted_at: grantedAt })
      const { token } = await people.lend('giver')
      const { entry } = (await user.send('GET /consumer/grant')).body
      const [foreign, consented] = entry
      assert.equal(entry.length, 2)
      assert.deepEqual(consented, {
        client: { id: site.id, name: 'Site' },
        scopes: ['note', 'todo'],
        since: '2026-01-02T03:04:05.678Z',
        last_used: null,
      })
      assert.deepEqual(foreign.client, { id: people.foreign.id, name: 'Foreign' })
      assert.deepEqual(foreign.scopes, ['consumer', 'todo'])

      const { created } = await tokenRow(people, token)
      assert.equal(foreign.since, new Date(created).toISOString())
      const usedAt = people.clock.now()
      await markUsed(people, user.id, usedAt)
      const again = (await user.send('GET /consumer/grant')).body.entry[0]
      assert.equal(again.last_used, new Date(usedAt).toISOString())
    })

    test('are listed as long as a client can renew them, and not after', async () => {
      const user = await people.come('sleeper')
      await people.lend('sleeper')
      people.clock.forward(2 * 3_600_000)
      const later = await people.come('sleeper')
      assert.equal((await later.send('GET /consumer/grant')).body.entry.length, 1)
      people.clock.forward(30 * 86_400_000)
      assert.deepEqual((await (await people.come('sleeper')).send('GET /consumer/grant')).body, { entry: [] })
      assert.equal(await people.use(user.token), 401)
    })

    test('are taken back with the consent, every token and every code, for this user and this client alone', async () => {
      const user = await people.come('changed-mind')
      const lent = [await people.lend('changed-mind'), await people.lend('changed-mind')]
      const others = await people.lend('ann')
      await consent(user.id, people.foreign.id, { scope: 'todo', granted_at: 1 })
      await consent(people.annId, people.foreign.id, { scope: 'todo', granted_at: 1 })
      await people.system.db
        .insertInto('waypost_code')
        .values({
          hash: sha256(`code of ${user.id}`),
          client_id: people.foreign.id,
          user_id: user.id,
          redirect_uri: '',
          scope: 'todo',
          separator: ' ',
          challenge: 'x'.repeat(43),
          created_at: 1,
          expires_at: Number.MAX_SAFE_INTEGER,
        })
        .execute()

      const answer = await user.send(`DELETE /consumer/grant/${people.foreign.id}`)
      assert.equal(answer.status, 204)
      assert.deepEqual((await user.send('GET /consumer/grant')).body, { entry: [] })
      for (const { token, refreshToken } of lent) {
        assert.equal(await people.use(token), 401)
        assert.equal((await refresh(refreshToken)).error, 'invalid_grant')
      }
      const { db } = people.system
      assert.deepEqual(await db.selectFrom('waypost_code').selectAll().where('user_id', '=', user.id).execute(), [])
      const consents = await db.selectFrom('waypost_consent').select('user_id').execute()
      assert.deepEqual(
        consents.map((row) => row.user_id).filter((id) => [user.id, people.annId].includes(id)),
        [people.annId],
      )
      assert.equal(await people.use(user.token), 200)
      assert.equal(await people.use(others.token), 200)
      assert.equal((await refresh(others.refreshToken)).token_type, 'bearer')
      assert.equal((await user.send(`DELETE /consumer/grant/${people.foreign.id}`)).status, 404)
      assert.equal(await people.use((await people.lend('changed-mind')).token), 200)
    })

    test('on the page are listed, and requested again after their withdrawal', async () => {
      const user = await people.come('visitor')
      const redirectUris = [callback]
      const site = await people.addClient({
        name: 'Site',
        user: 'bob',
        scopes: ['todo'],
        grants: ['authorization_code'],
        redirectUris,
      })
      const visitor = makeVisitor(people)
      const request = requestOf(site, { scope: 'todo' })
      const page = await visitor.logIn(await visitor.authorize(request), { username: user.name })
      const code = readCode(await visitor.submit(page, 'consent', { decision: 'allow' }))
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback }
      const { body } = await people.token(site, form)
      assert.equal(await people.use(body.access_token), 200)
      readCode(await visitor.authorize(request)) // no consent needed

      const [grant] = (await user.send('GET /consumer/grant')).body.entry
      assert.deepEqual([grant.client, grant.scopes], [{ id: site.id, name: 'Site' }, ['todo']])
      assert.equal((await user.send(`DELETE /consumer/grant/${site.id}`)).status, 204)
      assert.equal(await people.use(body.access_token), 401)
      assert.equal((await visitor.authorize(request)).status, 200)
    })

    for (const [name, id] of [
      ['the client of logins', () => loginClientId],
      ['a client that has none', () => people.app.id],
      ['an invalid id', () => 'foreign'],
      ['a very long id', () => 'a'.repeat(1000)],
      ['an id with a zero', () => '%00'],
    ] as const) {
      test(`cannot be taken back from ${name}`, async () => {
        const user = await people.come('bob')
        const answer = await user.send(`DELETE /consumer/grant/${id()}`)
        assert.equal(answer.status, 404, answer.text)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.equal(await people.use(user.token), 200)
      })
    }

    test('are seen and taken back with the token of a login only', async () => {
      const { token } = await people.lend('ann')
      const lent = sendAs(people, token)
      assert.equal((await lent('GET /consumer/grant')).status, 403)
      assert.equal((await lent(`DELETE /consumer/grant/${people.foreign.id}`)).status, 403)
      assert.equal(await people.use(token), 200)
    })

    test('that were withdrawn are rejected on every server', async () => {
      const user = await people.come('far')
      const { token } = await people.lend('far')
      const second = await people.startSecond()
      try {
        const use = async () => (await second.send('GET /todo', { headers: bearer(token) })).status
        assert.equal(await use(), 200)
        assert.equal((await user.send(`DELETE /consumer/grant/${people.foreign.id}`)).status, 204)
        await until('it is refused', async () => (await use()) === 401)
      } finally {
        await second.close()
      }
    })

    test('leave no line in the log', () => assert.deepEqual(people.log, []))
  })
}

async function tokenRow({ system }: People, token: string): Promise<{ created: number }> {
  const { jti } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { jti: string }
  const query = system.db.selectFrom('waypost_token').select('created_at as created')
  return query.where('jti', '=', jti).executeTakeFirstOrThrow()
}

/** Records a use as servers do periodically. */
async function markUsed({ system, foreign }: People, userId: string, usedAt: number): Promise<void> {
  await system.db
    .updateTable('waypost_token_family')
    .set({ used_at: usedAt })
    .where('user_id', '=', userId)
    .where('client_id', '=', foreign.id)
    .execute()
}
