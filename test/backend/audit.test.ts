import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { makeGreeting } from './deployers.ts'

test('each activation over HTTP is logged with user, client and release, without the token', async () => {
  await using server = await openProjectServer({ files: { 'waypost.yml': 'routes: {}' } })
  const headers = await server.authorize('bo', ['backend.deploy'])
  const { manifest, artifacts } = makeGreeting('hello')
  const post = (path: string, body: object) => send(server.port, { path, headers, body: { protocol: 2, ...body } })
  assert.equal((await post('/backend/deploy/artifact', { artifacts })).status, 200)
  const { status, body } = await post('/backend/deploy', { manifest })
  assert.equal(status, 200)

  const lines = server.logs.filter((line) => 'audit' in line)
  const [line] = lines as { audit: Record<string, unknown> }[]
  assert.equal(lines.length, 1)
  const { userId, clientId, by, ...rest } = line!.audit
  assert.deepEqual(rest, { release: body.id.slice(0, 8), activated: true })
  assert.match(String(by), /^bo \(.+\)$/)
  for (const id of [userId, clientId]) assert.match(String(id), /^[0-9a-f-]{36}$/)
  const row = await server.host.system.db
    .selectFrom('waypost_activation')
    .select(['user_id', 'client_id'])
    .where('release_id', '=', body.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual(row, { user_id: userId, client_id: clientId })
  const [, token = ''] = headers.authorization.split(' ')
  assert.ok(!JSON.stringify(server.logs).includes(token))
})
