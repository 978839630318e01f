import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sha256 } from '../../src/kit/index.ts'
import { basic, bearer, type TestAnswer } from '../support/server.ts'
import { openWorld, setStatus, type Credentials, type World } from './world.ts'
import { chooseKinds } from '../support/forms.ts'

const minute = 60_000
const day = 24 * 60 * minute

for (const kind of chooseKinds('postgresql')) {
  describe(`refresh tokens on ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind, { isUnusual: true })
    })
    after(() => world.close())

    async function begin(client: Credentials = world.app, scope = ''): Promise<{ access: string; refresh: string }> {
      const { body } = await world.token(client, { grant_type: 'client_credentials', scope })
      return { access: body.access_token, refresh: body.refresh_token }
    }
    function refresh(token: string, form: Readonly<Record<string, string>> = {}, client: Credentials = world.app) {
      return world.token(client, { grant_type: 'refresh_token', refresh_token: token, ...form })
    }
    const use = async (token: string) => (await world.send('GET /any', { headers: bearer(token) })).status

    test('are exchanged for new tokens, the old access token going on', async () => {
      const first = await begin()
      const answer = await refresh(first.refresh)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.equal(answer.body.token_type, 'bearer')
      assert.equal(answer.body.scope, 'note todo')
      assert.notEqual(answer.body.refresh_token, first.refresh)
      assert.notEqual(answer.body.access_token, first.access)
      assert.deepEqual(await Promise.all([first.access, answer.body.access_token].map(use)), [200, 200])
    })

    test('return the same successor to a retry within the grace period, while it is unused', async () => {
      const first = await begin()
      const answers = [await refresh(first.refresh), await refresh(first.refresh)]
      assert.equal(answers[0]!.body.refresh_token, answers[1]!.body.refresh_token)
      assert.notEqual(answers[0]!.body.access_token, answers[1]!.body.access_token)
      assert.equal((await refresh(answers[1]!.body.refresh_token)).status, 200)
    })

    const reuses: readonly { name: string; reuse(first: string, second: string): Promise<TestAnswer> }[] = [
      {
        name: 'after the grace',
        reuse: (first) => {
          world.clock.forward(11_000)
          return refresh(first)
        },
      },
      {
        name: 'when the successor was used',
        reuse: async (first, second) => {
          assert.equal((await refresh(second)).status, 200)
          return refresh(first)
        },
      },
      { name: 'with another scope', reuse: (first) => refresh(first, { scope: 'todo' }) },
    ]
    for (const { name, reuse } of reuses) {
      test(`revoke their family when they are used twice ${name}`, async () => {
        const first = await begin()
        const second = (await refresh(first.refresh)).body
        assert.equal(await use(second.access_token), 200)
        assertInvalidGrant(await reuse(first.refresh, second.refresh_token))
        assert.deepEqual(await Promise.all([first.access, second.access_token].map(use)), [401, 401])
        assertInvalidGrant(await refresh(second.refresh_token))
      })
    }

    test('may narrow the scope, and widen it again to the granted scopes', async () => {
      const first = await begin()
      const narrow = (await refresh(first.refresh, { scope: 'todo' })).body
      assert.equal(narrow.scope, 'todo')
      assert.equal(
        (await world.send('GET /either', { headers: bearer(narrow.access_token) })).body.scopes.join(),
        'todo',
      )
      const retried = (await refresh(first.refresh, { scope: 'todo' })).body
      assert.equal(retried.refresh_token, narrow.refresh_token)
      assert.equal((await refresh(narrow.refresh_token)).body.scope, 'note todo')
    })

    test('accept the same scopes in another order for the same retry', async () => {
      const first = await begin()
      const [one, two] = [
        await refresh(first.refresh, { scope: 'todo note' }),
        await refresh(first.refresh, { scope: 'note,todo' }),
      ]
      assert.equal(one.body.scope, 'todo note')
      assert.equal(two.body.scope, 'note,todo')
      assert.equal(one.body.refresh_token, two.body.refresh_token)
    })

    test('reject a wider scope without being used up', async () => {
      const { refresh: token } = await begin(world.app, 'todo')
      const wider = await refresh(token, { scope: 'todo note' })
      assert.equal(wider.status, 400)
      assert.equal(wider.body.error, 'invalid_scope')
      assert.equal((await refresh(token)).body.scope, 'todo')
    })

    test('cannot be used by another client, and stay valid', async () => {
      const first = await begin()
      assertInvalidGrant(await refresh(first.refresh, {}, world.other))
      const answer = await world.send('POST /authorization/token', {
        form: { grant_type: 'refresh_token', refresh_token: first.refresh, client_id: world.publicId },
      })
      assertInvalidGrant(answer)
      assert.equal((await world.send('PUT /consumer/login', { json: { refresh_token: first.refresh } })).status, 401)
      const second = (await refresh(first.refresh)).body
      // Already used: still invisible to other clients
      assertInvalidGrant(await refresh(first.refresh, {}, world.other))
      assert.equal(await use(second.access_token), 200)
      assert.equal((await refresh(second.refresh_token)).status, 200)
    })

    test('leave one valid successor of 50 concurrent refreshes, on two servers', async () => {
      world.clock.freeze() // however long they wait on a busy machine, none is late
      const first = await begin()
      await using second = await world.startSecond()
      const form = { grant_type: 'refresh_token', refresh_token: first.refresh }
      const headers = basic(world.app.id, world.app.secret)
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? world : second).send('POST /authorization/token', { headers, form }),
        ),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      const successors = new Set(answers.map(({ body }) => body.refresh_token))
      assert.equal(successors.size, 1)
      const [successor] = successors
      assert.equal(await countLive(world, first.refresh), 1)
      assert.equal((await refresh(successor)).status, 200)
    })

    test('leave at most one valid successor of 50 concurrent refreshes without a grace period', async () => {
      await using strict = await openWorld(kind, { config: { refresh_grace: '0s' } })
      const { body } = await strict.token(strict.app, { grant_type: 'client_credentials' })
      const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
      const answers = await Promise.all(Array.from({ length: 50 }, () => strict.token(strict.app, form)))
      const given = answers.filter(({ status }) => status === 200)
      assert.ok(new Set(given.map((answer) => answer.body.refresh_token)).size <= 1)
      assert.ok((await countLive(strict, body.refresh_token)) <= 1)
    })

    test('expire after their lifetime, and that of their family', async () => {
      const { body } = await world.logIn()
      const renew = (token: string) => world.send('PUT /consumer/login', { json: { refresh_token: token } })
      let current = body.refresh_token
      for (const days of [29, 29, 29]) {
        world.clock.forward(days * day)
        const answer = await renew(current)
        assert.equal(answer.status, 200)
        current = answer.body.refresh_token
      }
      world.clock.forward(4 * day) // 91 days since the login
      assert.equal((await renew(current)).status, 401)

      const idle = await begin()
      world.clock.forward(31 * day)
      assertInvalidGrant(await refresh(idle.refresh))
    })

    test('are inactive while their user or client is disabled, and active again afterwards', async () => {
      const client = await world.addClient({})
      const { refresh: token } = await begin(client)
      await setStatus(world.system, 'user', { id: world.annId, status: 'disabled' })
      assertInvalidGrant(await refresh(token, {}, client))
      await setStatus(world.system, 'user', { id: world.annId, status: 'active' })
      await setStatus(world.system, 'client', { id: client.id, status: 'disabled' })
      await world.server.feed.catchUp()
      assert.equal((await refresh(token, {}, client)).body.error, 'invalid_client')
      await setStatus(world.system, 'client', { id: client.id, status: 'active' })
      await world.server.feed.catchUp()
      assert.equal((await refresh(token, {}, client)).status, 200)
    })

    test('carry no scope that the user lost meanwhile', async () => {
      const { refresh: token } = await begin()
      const scope = () => world.system.db.deleteFrom('waypost_user_scope').where('user_id', '=', world.annId)
      await scope().where('scope', '=', 'todo').execute()
      const next = (await refresh(token)).body
      assert.equal(next.scope, 'note')
      assert.equal((await refresh(next.refresh_token, { scope: 'todo' })).body.error, 'invalid_scope')
      await world.system.db.insertInto('waypost_user_scope').values({ user_id: world.annId, scope: 'todo' }).execute()
      assert.equal((await refresh(next.refresh_token)).body.scope, 'note todo')
    })

    test('of a public client need its id and no secret', async () => {
      const { id: familyless } = await world.addClient({ public: true })
      const { refresh: token } = await begin()
      await world.system.db
        .updateTable('waypost_token_family')
        .set({ client_id: familyless })
        .where('id', '=', await familyOf(world, token))
        .execute()
      const answer = await world.send('POST /authorization/token', {
        form: { grant_type: 'refresh_token', refresh_token: token, client_id: familyless },
      })
      assert.equal(answer.status, 200)
    })

    test('are not access tokens, and are stored only as their hash', async () => {
      const { refresh: token } = await begin()
      assert.equal(await use(token), 401)
      const rows = await world.system.db.selectFrom('waypost_refresh_token').selectAll().execute()
      assert.ok(rows.some((row) => row.hash === sha256(token)))
      assert.ok(!JSON.stringify(rows).includes(token))
    })
  })
}

function assertInvalidGrant(answer: TestAnswer): void {
  assert.equal(answer.status, 400, answer.text)
  assert.equal(answer.body.error, 'invalid_grant')
}

async function familyOf(world: World, token: string): Promise<string> {
  const query = world.system.db
    .selectFrom('waypost_refresh_token')
    .select('family_id')
    .where('hash', '=', sha256(token))
  return (await query.executeTakeFirstOrThrow()).family_id
}

/** Refresh tokens of the same family that are still valid. */
async function countLive(world: World, token: string): Promise<number> {
  const family = await familyOf(world, token)
  const rows = await world.system.db
    .selectFrom('waypost_refresh_token as token')
    .innerJoin('waypost_token_family as family', 'family.id', 'token.family_id')
    .select('token.hash')
    .where('family.id', '=', family)
    .where('family.revoked_at', 'is', null)
    .where('token.used_at', 'is', null)
    .execute()
  return rows.length
}
