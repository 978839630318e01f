import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { activateRelease } from '../../src/release/index.ts'
import { bearer } from '../support/server.ts'
import { lintDocuments } from '../runtime/openapi/document.ts'
import { isLong } from '../support/forms.ts'
import { allScopes, openAdmin, type AdminCall, type AdminWorld } from './admin.ts'
import { makeGreeting } from './deployers.ts'

interface Operation {
  readonly operationId: string
  readonly security: readonly { readonly token: readonly string[] }[]
}

describe('the admin API', () => {
  let world: AdminWorld
  let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }
  before(async () => {
    world = await openAdmin('sqlite')
    document = (await world.call('GET /openapi.json')).body
  })
  after(() => world.close())

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        line: `${method.toUpperCase()} ${path.replace('/backend', '').replaceAll(/\{\w+\}/g, 'ffffffff')}`,
        scopes: operation.security.map(({ token }) => token[0]!),
        name: operation.operationId,
      })),
    )

  test('is described in a document that Redocly accepts', async () => {
    assert.ok(operations().length >= 5)
    assert.deepEqual(await lintDocuments({ 'backend.json': document }), [])
    const names = operations().map(({ name }) => name)
    assert.deepEqual(names, [...new Set(names)])
  })

  test('each operation refuses requests without a token, and tokens without one of its scopes', async () => {
    const anonymous = await world.as()
    const every = [...allScopes, 'todo', 'consumer']
    const calls = new Map<string, AdminCall>()
    const callAs = async (...scopes: readonly string[]) => {
      const known = calls.get(scopes.join(' ')) ?? (await world.as(...scopes))
      calls.set(scopes.join(' '), known)
      return known
    }
    for (const { line, scopes } of [...operations(), { line: 'GET /openapi.json', scopes: ['backend.read'] }]) {
      assert.ok(
        scopes.every((scope) => (allScopes as readonly string[]).includes(scope)),
        line,
      )
      const refused = await anonymous(line, {})
      assert.equal(refused.status, 401, line)
      assert.equal(refused.headers.get('content-type'), 'application/problem+json')
      const others = every.filter((scope) => !scopes.includes(scope))
      for (const held of isLong ? [others, ...others.map((scope) => [scope])] : [others])
        assert.equal((await (await callAs(...held))(line, {})).status, 403, `${line} with ${held.join()}`)
      for (const scope of scopes) {
        const { status, body } = await (await callAs(scope))(line, {})
        const isOther = body.type === 'urn:waypost:errors#WP_BACKEND_TRY_CLIENT' // another reason than the scope
        assert.ok(isOther || ![401, 403].includes(status), `${line} with ${scope}: ${status}`)
      }
    }
  })

  test('answers unknown paths and methods as the other endpoints do', async () => {
    assert.equal((await world.call('GET /nothing')).status, 404)
    const wrong = await world.call('DELETE /server')
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD')
    const cross = await world.call('GET /account', { headers: { origin: 'https://evil.example' } })
    assert.equal(cross.headers.get('access-control-allow-origin'), null)
    assert.equal(cross.headers.get('cache-control'), 'no-store')
    assert.equal((await world.call('GET /server?limit=1')).status, 400, 'undeclared parameters are refused')
  })

  test('keeps its instance when a release is swapped', async () => {
    const before = await world.call('GET /account')
    await world.serve({ kind: 'sqlite', config: { title: 'Bookshop' } })
    const { body } = await world.call('GET /account')
    assert.deepEqual(body.user, before.body.user)
    assert.equal(body.server.service, 'Bookshop')
  })

  test('a rollback goes to the release and refuses to replace another one than expected', async () => {
    for (const word of ['hello', 'goodbye']) await activateRelease(world.system, makeGreeting(word), { by: 'ann' })
    const { entry } = (await world.call('GET /release')).body
    const active = entry.find((one: { is_active: boolean }) => one.is_active)
    const earlier = entry.find((one: { is_active: boolean }) => !one.is_active)
    const detail = await world.call(`GET /release/${earlier.id.slice(0, 12)}`)
    assert.equal(detail.body.id, earlier.id)
    const changes = await world.call(`GET /release/${active.id}/diff/${earlier.id}`)
    assert.ok(changes.body.changes.length > 0)
    assert.equal((await world.call(`GET /release/${earlier.id}/rollback`)).body.active, active.id)
    const superseded = await world.call(`POST /release/${earlier.id}/rollback`, { json: { against: earlier.id } })
    assert.equal(superseded.status, 409, superseded.text)
    const done = await world.call(`POST /release/${earlier.id}/rollback`, {
      json: { against: active.id, message: 'slow' },
    })
    assert.deepEqual(done.body, { id: earlier.id, activated: true })
    const { activations } = (await world.call(`GET /release/${earlier.id}`)).body
    assert.equal(activations[0].kind, 'rollback')
    assert.match(activations[0].activated_by, /^root/)
    assert.equal((await world.call('POST /release/ffffffff/rollback', { json: { against: 'none' } })).status, 404)
  })

  test('statistics count the answers of each method, also those that the guard or the validation sends', async () => {
    const todo = await world.token(world.app, { grant_type: 'client_credentials' })
    const send = (line: string) => world.send(line, { headers: bearer(todo.body.access_token) })
    await world.serve({ kind: 'sqlite' })
    for (const line of ['GET /todo', 'GET /todo', 'GET /todo']) await send(line)
    await world.send('GET /todo')
    await send('GET /nothing')
    await world.serve({ kind: 'sqlite', config: { title: 'Another' } })
    await send('GET /todo')
    await world.server.recordStatistics()
    const [from, to] = [0, 4_000_000_000_000].map((ms) => new Date(ms).toISOString())
    const byHour = (await world.call(`GET /statistics/route?by=hour&from=${from}&to=${to}`)).body
    assert.match(byHour.detail, /1111112 periods by hour; the limit is 2160/)
    const now = world.clock.now()
    const day = `by=hour&from=${new Date(now - 43_200_000).toISOString()}&to=${new Date(now + 43_200_000).toISOString()}`
    const { entry } = (await world.call(`GET /statistics/route?${day}`)).body
    const counted = entry.find(({ route }: { route: string }) => route === 'GET /todo')
    assert.deepEqual([counted.requests, counted.client_errors, counted.server_errors], [5, 1, 0], JSON.stringify(entry))
    assert.ok(counted.p95_ms > 0)
    const series = await world.call(`GET /statistics?${day}&route=${encodeURIComponent('GET /todo')}`)
    assert.equal(series.body.entry[0].requests, 5)
  })
})
