import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { paths, protocol } from '../../src/backend/deploy/protocol.ts'
import { issueHostToken, revokeHostTokens } from '../../src/operate/index.ts'
import { holdBody } from '../support/hold-body.ts'
import { chooseKinds } from '../support/forms.ts'
import { asCommand, bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { allScopes, openAdmin, type AdminWorld } from './admin.ts'

for (const kind of chooseKinds('sqlite')) {
  describe(`a request of an administrator whose body arrives after its token was revoked, ${kind}`, () => {
    let world: AdminWorld
    before(async () => {
      world = await openAdmin(kind)
    })
    after(() => world.close())

    /** Revokes the token between the headers and the body of each request. */
    const answerLate = async (requests: readonly { line: string; json: unknown }[]) => {
      const acting = asCommand(world.host)
      const { access_token: token, jti } = await issueHostToken(acting, {
        user: 'root',
        scopes: allScopes,
        expires: undefined,
      })
      const look = async () => (await world.send('GET /backend/server', { headers: bearer(token) })).status
      assert.equal(await look(), 200)
      const held = requests.map((one) => holdBody(world.url, { ...one, token }))
      await pause(200) // until the server has read the headers; if it has not, the test only proves less
      await revokeHostTokens(acting, { jti })
      await until('the server rejects the token', async () => (await look()) === 401)
      return Promise.all(held.map(async (finish) => (await finish()).status))
    }

    test('is rejected by the admin API', async () => {
      const statuses = await answerLate([
        { line: 'POST /backend/user', json: { name: 'thief', scopes: ['todo'] } },
        { line: 'PATCH /backend/user/ann', json: { email: 'thief@example.com' } },
        { line: 'PUT /backend/variable/PAYMENT_KEY', json: { value: 'stolen' } },
      ])
      assert.deepEqual(statuses, [401, 401, 401])
      const users = await world.system.db.selectFrom('waypost_user').select(['name', 'email']).execute()
      assert.deepEqual(
        users.filter(({ name, email }) => name === 'thief' || email !== null),
        [],
      )
    })

    test('is rejected by the endpoints of deployments', async () => {
      const targets = [paths.survey, paths.artifacts, paths.migrations, paths.releases]
      const rollbacks = [paths.rollbackSurvey, paths.rollback]
      for (const some of [targets, rollbacks]) {
        const statuses = await answerLate(some.map((path) => ({ line: `POST ${path}`, json: { protocol } })))
        assert.deepEqual(
          statuses,
          some.map(() => 401),
        )
      }
    })
  })
}
