import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTrafficLog } from '../../src/backend/index.ts'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

test('dev lists its requests with user, route and code; those of the backend are left out', async () => {
  const traffic = makeTrafficLog()
  const files = {
    'waypost.yml': 'routes:\n  /todo/:id: { scopes: [todo], methods: { GET: { action: src/todo.ts } } }\n',
    'src/todo.ts': actionFile('return {}'),
  }
  await using world = await openProjectServer({ files, traffic, onResponse: (report) => traffic.add(report, 0) })
  const headers = await world.authorize('ann', ['todo', 'backend.operate'])
  const list = async (after = 0) =>
    (await send(world.port, { path: `/backend/traffic?after=${after}`, headers })).body.entry
  await send(world.port, { path: '/todo/1?a=b&access_token=secret', headers })
  await send(world.port, { path: '/todo/2' })
  const [first, second, ...others] = await list()
  assert.deepEqual(others, [])
  assert.deepEqual(
    [first.path, first.route, first.status, first.user],
    ['/todo/1?a=b&access_token=…', '/todo/:id', 200, 'ann'],
  )
  assert.deepEqual([second.status, second.user, second.code], [401, null, 'WP_AUTH_NO_TOKEN'])
  assert.deepEqual(await list(second.number), [])
})

test('a server that is not dev lists no requests', async () => {
  await using world = await openProjectServer({ files: { 'waypost.yml': 'routes: {}\n' } })
  const headers = await world.authorize('ann', ['backend.operate'])
  const { status, body } = await send(world.port, { path: '/backend/traffic', headers })
  assert.deepEqual([status, body.type], [404, 'urn:waypost:errors#WP_BACKEND_TRAFFIC'])
})

test('the list of requests is bounded', () => {
  const traffic = makeTrafficLog()
  const report = { id: '1', method: 'GET', path: '/', status: 200, ms: 1, user: undefined, reason: undefined }
  for (let count = 0; count < 5000; count += 1) traffic.add({ ...report, dropped: undefined }, 0)
  const listed = traffic.list(0)
  assert.deepEqual([listed.length, listed.at(-1)!.number], [500, 5000])
})
