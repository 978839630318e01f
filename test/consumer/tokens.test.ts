import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { loginClientId } from '../../src/auth/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { openPeople, sendAs, type People, type Person } from './people.ts'

interface Listed {
  readonly jti: string | null
  readonly family: string | null
  readonly current: boolean
  readonly last_used: string | null
  readonly [name: string]: unknown
}

const idOf = (token: string) => decodeJwt(token).jti!

for (const kind of defaultKinds) {
  describe(`own tokens on ${kind}`, () => {
    let people: People
    before(async () => {
      people = await openPeople(kind)
    })
    after(() => people.close())

    const list = async (who: Person, query = ''): Promise<readonly Listed[]> =>
      (await who.send(`GET /consumer/token${query}`)).body.entry
    const renew = (refreshToken: string) =>
      people.send('PUT /consumer/login', { json: { refresh_token: refreshToken } })

    test('are listed, the newest first, with client, scope, times and whether one is the caller’s', async () => {
      const user = await people.come('lister')
      const lent = await people.lend('lister')
      const answer = await user.send('GET /consumer/token')
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.deepEqual(Object.keys(answer.body), ['entry'])
      const [foreign, own] = answer.body.entry
      const { created, expires, family, ...rest } = own
      assert.deepEqual(rest, {
        jti: idOf(user.token),
        client: { id: loginClientId, name: 'login' },
        scope: 'consumer note todo',
        last_used: null,
        current: true,
      })
      assert.equal(typeof family, 'string')
      assert.equal(expires, new Date(decodeJwt(user.token).exp! * 1000).toISOString())
      assert.ok(Date.parse(created) <= Date.parse(expires) - 3_598_000, `${created} ${expires}`)
      assert.equal(foreign.jti, idOf(lent.token))
      assert.deepEqual(foreign.client, { id: people.foreign.id, name: 'Foreign' })
      assert.deepEqual([foreign.scope, foreign.current], ['consumer todo', false])
    })

    test('contain nothing that would allow their use', async () => {
      const user = await people.come('lister')
      const { text } = await user.send('GET /consumer/token')
      for (const secret of [user.token, user.refreshToken, user.token.split('.')[2]!]) {
        assert.equal(text.includes(secret), false)
      }
    })

    test('show when a server last received them', async () => {
      const user = await people.come('watched')
      const second = await people.startSecond()
      const before = people.clock.now()
      assert.equal((await second.send('GET /todo', { headers: bearer(user.token) })).status, 200)
      await second.close()
      const [own] = await list(user)
      const usedAt = Date.parse(own!.last_used!)
      assert.ok(usedAt >= before && usedAt <= people.clock.now(), own!.last_used!)
      const [family] = await people.system.db
        .selectFrom('waypost_token_family')
        .select('used_at')
        .where('user_id', '=', user.id)
        .execute()
      assert.equal(family!.used_at, usedAt)
    })

    test('are paged, each token once, even if others are added meanwhile', async () => {
      await people.come('reader')
      for (let count = 0; count < 6; count++) await people.lend('reader')
      const user = await people.come('reader')
      const all = await list(user)
      assert.equal(all.length, 8)
      const seen: Listed[] = []
      let query = '?limit=3'
      for (;;) {
        const { body } = await user.send(`GET /consumer/token${query}`)
        assert.ok(body.entry.length <= 3)
        seen.push(...body.entry)
        if (body.next === undefined) break
        if (seen.length === 3) await people.lend('reader')
        query = `?limit=3&cursor=${body.next}`
      }
      assert.deepEqual(seen, all)
    })

    for (const query of [
      '?limit=0',
      '?limit=101',
      '?limit=ten',
      '?limit=1&limit=2',
      '?cursor=x',
      `?cursor=${Buffer.from("1 ' or 1=1 --").toString('base64url')}`,
      `?cursor=${'a'.repeat(101)}`,
      '?user=bob',
    ]) {
      test(`are not listed by ${query.slice(0, 40)}`, async () => {
        const answer = await (await people.come('ann')).send(`GET /consumer/token${query}`)
        assert.equal(answer.status, 400, answer.text)
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
      })
    }

    test('that have expired are listed as long as they can be renewed, by their family', async () => {
      const old = await people.come('traveller')
      people.clock.forward(2 * 3_600_000)
      const user = await people.come('traveller')
      const [own, dormant, ...rest] = await list(user)
      assert.deepEqual(rest, [])
      assert.equal(own!.jti, idOf(user.token))
      assert.deepEqual([dormant!.jti, dormant!.current], [null, false])
      assert.equal((await user.send(`DELETE /consumer/token/${dormant!.family}`)).status, 204)
      assert.equal((await renew(old.refreshToken)).status, 401)
      assert.equal((await list(user)).length, 1)
    })

    test('that were used up, revoked or have expired are not listed', async () => {
      const user = await people.come('tidy')
      const { body } = await renew(user.refreshToken)
      const next = sendAs(people, body.token)
      assert.equal((await next(`DELETE /consumer/token/${idOf((await people.lend('tidy')).token)}`)).status, 204)
      people.clock.forward(31 * 86_400_000)
      const later = await people.come('tidy')
      assert.deepEqual(
        (await list(later)).map(({ jti }) => jti),
        [idOf(later.token)],
      )
    })

    test('are revoked together with the refresh tokens that could renew them', async () => {
      const user = await people.come('revoker')
      const lent = await people.lend('revoker')
      assert.equal(await people.use(lent.token), 200)
      const answer = await user.send(`DELETE /consumer/token/${idOf(lent.token)}`)
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal(await people.use(lent.token), 401)
      const refreshed = { grant_type: 'refresh_token', refresh_token: lent.refreshToken }
      assert.equal((await people.token(people.foreign, refreshed)).body.error, 'invalid_grant')
      assert.equal((await user.send(`DELETE /consumer/token/${idOf(lent.token)}`)).status, 204)
      assert.equal(await people.use(user.token), 200)
    })

    test('without a refresh token are revoked alone', async () => {
      const user = await people.come('revoker')
      const { body } = await user.send('POST /consumer/client', { name: 'Own', scopes: ['todo'] })
      const client = { id: body.id, secret: body.secret }
      const [first, other] = [await ask(people, client), await ask(people, client)]
      const listed = (await list(user)).find(({ jti }) => jti === idOf(first))
      assert.deepEqual([listed?.family, listed?.client], [null, { id: client.id, name: 'Own' }])
      assert.equal((await user.send(`DELETE /consumer/token/${idOf(first)}`)).status, 204)
      assert.deepEqual([await people.use(first), await people.use(other)], [401, 200])
    })

    test('of the caller can be revoked by himself: that logs him out', async () => {
      const user = await people.come('leaver')
      assert.equal((await user.send(`DELETE /consumer/token/${idOf(user.token)}`)).status, 204)
      assert.equal(await people.use(user.token), 401)
      assert.equal((await renew(user.refreshToken)).status, 401)
    })

    test('are not visible to other users and cannot be revoked by them', async () => {
      const ann = await people.come('ann')
      const bob = await people.come('bob')
      const seen = new Set((await list(bob)).flatMap(({ jti, family }) => [jti, family]))
      const own = (await list(ann)).find(({ current }) => current)
      for (const id of [own!.jti!, own!.family!]) {
        assert.equal(seen.has(id), false)
        assert.equal((await bob.send(`DELETE /consumer/token/${id}`)).status, 404)
      }
      for (const id of ['x', '%00', 'a'.repeat(1000), '00000000-0000-4000-8000-00000000ffff']) {
        assert.equal((await bob.send(`DELETE /consumer/token/${id}`)).status, 404, id.slice(0, 10))
      }
      assert.equal(await people.use(ann.token), 200)
    })

    test('are seen and revoked with the token of a login only', async () => {
      const ann = await people.come('ann')
      const { token } = await people.lend('ann')
      const lent = sendAs(people, token)
      assert.equal((await lent('GET /consumer/token')).status, 403)
      assert.equal((await lent(`DELETE /consumer/token/${idOf(ann.token)}`)).status, 403)
      assert.equal(await people.use(ann.token), 200)
    })

    test('leave no line in the log', () => assert.deepEqual(people.log, []))
  })
}

async function ask(people: People, client: { id: string; secret: string }): Promise<string> {
  return (await people.token(client, { grant_type: 'client_credentials' })).body.access_token
}
