import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { startTestServer } from '../support/server.ts'
import { openDeployers, makeGreeting } from './deployers.ts'
import { longTest } from '../support/forms.ts'

test('a server with WAYPOST_REMOTE_DEPLOY=off rejects deployments and plans, and gives the reason to authorized callers', async () => {
  const world = await openDeployers('sqlite', { variables: { WAYPOST_REMOTE_DEPLOY: 'off' } })
  try {
    const { manifest, artifacts } = makeGreeting('hello')
    const bodies: Readonly<Record<string, object | undefined>> = {
      'GET /backend/deploy/access': undefined,
      'GET /backend/deploy/server': undefined,
      'POST /backend/deploy/survey': { protocol: 2, manifest },
      'POST /backend/deploy/artifact': { protocol: 2, artifacts },
      'POST /backend/deploy/migration': { protocol: 2, manifest },
      'POST /backend/deploy': { protocol: 2, manifest },
      'POST /backend/deploy/rollback/survey': { protocol: 2 },
      'POST /backend/deploy/rollback': { protocol: 2, release: 'a'.repeat(64) },
    }
    for (const [line, json] of Object.entries(bodies)) {
      const refused = await world.deploy(line, json)
      assert.deepEqual([refused.status, refused.body.type], [403, 'urn:waypost:errors#WP_BACKEND_DEPLOY_OFF'], line)
      assert.equal((await world.stranger(line, json)).body.type, 'urn:waypost:errors#WP_AUTH_SCOPE', line)
      assert.equal((await world.nobody(line, json)).status, 401, line)
    }
    assert.deepEqual(await world.system.db.selectFrom('waypost_upload').selectAll().execute(), [])
    assert.deepEqual(await world.system.db.selectFrom('waypost_release').selectAll().execute(), [])
  } finally {
    await world.close()
  }
})

test('a server does not start if WAYPOST_REMOTE_DEPLOY is neither on nor off', async () => {
  await assert.rejects(startTestServer({ kind: 'sqlite', variables: { WAYPOST_REMOTE_DEPLOY: 'no' } }), {
    code: 'WP_SERVER_REMOTE_DEPLOY',
    message: /"no"/,
  })
})

test('dev rejects deployments: its folder would replace them', async () => {
  await using server = await openProjectServer({ files: { 'waypost.yml': 'routes: {}' }, isDevelopment: true })
  const headers = await server.authorize('ann', ['backend.read', 'backend.deploy'])
  const { status, body } = await send(server.port, { path: '/backend/deploy/server', headers })
  assert.deepEqual([status, body.type], [403, 'urn:waypost:errors#WP_BACKEND_DEVELOPMENT'])
})

for (const [mode, statuses] of [
  ['read', { 'GET /backend/release': 200, 'GET /backend/draft': 404 }],
  ['off', { 'GET /backend/release': 404, 'GET /backend/draft': 404, 'GET /backend': 404, 'GET /backend/ui/': 404 }],
] as const) {
  const declare = mode === 'off' ? test : longTest
  declare(`deployments and metrics do not depend on WAYPOST_BACKEND=${mode}`, async () => {
    const world = await openDeployers('sqlite', { variables: { WAYPOST_BACKEND: mode } })
    try {
      const { manifest, artifacts } = makeGreeting('hello')
      const expected = {
        ...statuses,
        'GET /backend/deploy/access': 200,
        'GET /metrics': 200,
        'POST /backend/deploy/artifact': 200,
        'POST /backend/deploy': 200,
      }
      const bodies: Readonly<Record<string, object>> = {
        'POST /backend/deploy/artifact': { protocol: 2, artifacts },
        'POST /backend/deploy': { protocol: 2, manifest },
      }
      const found: Record<string, number> = {}
      for (const line of Object.keys(expected)) found[line] = (await world.deploy(line, bodies[line])).status
      assert.deepEqual(found, expected)
    } finally {
      await world.close()
    }
  })
}
