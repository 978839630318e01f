import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addUser,
  backendClientId,
  issueTokens,
  loginClientId,
  openKeyRing,
  openTokenIssuer,
} from '../../src/auth/index.ts'
import { loadTerms, openIdentity } from '../../src/host/index.ts'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const files = {
  'waypost.yml': `
routes:
  /todo: { scopes: [todo], methods: { GET: { action: src/todo.ts } } }
  /admin: { scopes: [backend.read], methods: { GET: { action: src/todo.ts } } }
`,
  'src/todo.ts': actionFile('return {}'),
}

async function open(options: Partial<Parameters<typeof openProjectServer>[0]> = {}) {
  const world = await openProjectServer({ files, ...options })
  const scopes = ['backend.read', 'backend.admin', 'todo', 'consumer', 'other']
  const { id } = await addUser(world.host.system, { name: 'ann', password: 'correct horse battery', scopes })
  /** A token of ann for a client, with all of her scopes. */
  const issue = async (clientId: string) => {
    const { host } = world
    const { secrets, issuer } = await openIdentity(host)
    const { settings } = await loadTerms(host)
    const keys = await openKeyRing(host.system, secrets)
    const tokens = openTokenIssuer({ ...host, keys, secrets, issuer, settings: () => settings })
    return (await issueTokens(tokens, { userId: id, clientId, scopes }, { refresh: false })).accessToken
  }
  return { world, issue, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const tryIt = (world: ProjectServer, token: string) =>
  send(world.port, { method: 'POST', path: '/backend/token/try', headers: bearer(token) })

test('a token to try routes has no scopes of administration, ends after 15 minutes and is audited', async () => {
  await using opened = await open()
  const { world, issue } = opened
  const { status, body } = await tryIt(world, await issue(backendClientId))
  assert.equal(status, 200)
  assert.deepEqual([body.expires_in, body.scopes], [900, ['todo']])
  const call = (path: string) => send(world.port, { path, headers: bearer(body.access_token) })
  assert.equal((await call('/todo')).status, 200)
  for (const path of ['/admin', '/backend/account', '/backend/release', '/consumer/token'])
    assert.equal((await call(path)).status, 403, path)
  assert.equal((await tryIt(world, body.access_token)).status, 403)
  const row = await world.host.system.db
    .selectFrom('waypost_audit')
    .select(['action', 'user_name', 'after'])
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  assert.deepEqual([row.action, row.user_name], ['token.issue', 'ann'])
  assert.match(JSON.stringify(row.after), /todo/)
})

test('only the pages of the backend get a token to try routes', async () => {
  await using opened = await open()
  const { world, issue } = opened
  const { status, body } = await tryIt(world, await issue(loginClientId))
  assert.deepEqual([status, body.type], [403, 'urn:waypost:errors#WP_BACKEND_TRY_CLIENT'])
  assert.equal((await send(world.port, { method: 'POST', path: '/backend/token/try' })).status, 401)
})

test('pages of a backend on a host of its own may call routes', async () => {
  const origin = 'https://admin.example.com'
  const preflight = {
    origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  }
  const ask = (world: ProjectServer, path: string, headers = preflight) =>
    send(world.port, { method: 'OPTIONS', path, headers })
  await using opened = await open({ variables: { WAYPOST_BACKEND_URL: origin } })
  const { world } = opened
  const allowed = (await ask(world, '/todo')).headers
  assert.equal(allowed['access-control-allow-origin'], origin)
  assert.equal((await ask(world, '/backend/account')).headers['access-control-allow-origin'], undefined)
  const other = await ask(world, '/todo', { ...preflight, origin: 'https://evil.example' })
  assert.equal(other.headers['access-control-allow-origin'], undefined)
})
