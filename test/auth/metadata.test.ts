import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import Fastify from 'fastify'
import { mountMetadata } from '../../src/auth/endpoint/metadata.ts'
import { issuer, startTestServer } from '../support/server.ts'
import { openWorld, type World } from './world.ts'

const serverPlace = '/.well-known/oauth-authorization-server'
const resourcePlace = '/.well-known/oauth-protected-resource'

describe('metadata', () => {
  let world: World
  before(async () => {
    world = await openWorld('sqlite', { scopes: { todo: {}, note: {}, 'backend.read': {} } })
  })
  after(() => world.close())
  const load = async (place: string, headers = {}) => (await world.send(`GET ${place}`, { headers })).body

  test('of the authorization server lists its endpoints and features', async () => {
    const { headers, body } = await world.send(`GET ${serverPlace}`)
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/)
    assert.equal(headers.get('cache-control'), 'public, max-age=300')
    assert.deepEqual(body, {
      issuer,
      authorization_endpoint: `${issuer}/authorization/authorize`,
      token_endpoint: `${issuer}/authorization/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      revocation_endpoint: `${issuer}/authorization/revoke`,
      introspection_endpoint: `${issuer}/authorization/introspect`,
      scopes_supported: ['consumer', 'note', 'todo'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: body.grant_types_supported,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    })
    const grants = ['authorization_code', 'client_credentials', 'password', 'refresh_token']
    assert.deepEqual(body.grant_types_supported.toSorted(), grants)
  })

  test('of the resource names the accepted issuer, and that tokens belong in the header', async () => {
    assert.deepEqual(await load(resourcePlace), {
      resource: issuer,
      authorization_servers: [issuer],
      scopes_supported: ['consumer', 'note', 'todo'],
      bearer_methods_supported: ['header'],
    })
  })

  test('is linked from the response to a rejected request', async () => {
    const challenge = (await world.send('GET /todo')).headers.get('www-authenticate') ?? ''
    const place = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? ''
    assert.equal((await load(place.slice(issuer.length))).resource, issuer)
  })

  test('is the same for every host name of a request', async () => {
    const strange = { host: 'evil.example.com', 'x-forwarded-host': 'evil.example.com', forwarded: 'host=evil' }
    for (const place of [serverPlace, resourcePlace]) {
      assert.deepEqual(await load(place, strange), await load(place))
    }
  })

  test('names existing endpoints and known grants', async () => {
    const metadata = await load(serverPlace)
    for (const name of ['token_endpoint', 'revocation_endpoint', 'introspection_endpoint', 'jwks_uri']) {
      const path = metadata[name].slice(issuer.length)
      const answer = await (name === 'jwks_uri' ? world.send(`GET ${path}`) : world.send(`POST ${path}`, { form: {} }))
      assert.notEqual(answer.status, 404, name)
    }
    const all = await world.addClient({ grants: metadata.grant_types_supported })
    for (const grant of metadata.grant_types_supported) {
      const { body } = await world.token(all, { grant_type: grant })
      assert.notEqual(body.error, 'unsupported_grant_type', grant)
    }
    assert.equal((await world.token(all, { grant_type: 'implicit' })).body.error, 'unsupported_grant_type')
  })

  test('is read-only', async () => {
    for (const place of [serverPlace, resourcePlace, '/.well-known/jwks.json']) {
      assert.equal((await world.send(`HEAD ${place}`)).status, 200)
      const answer = await world.send(`POST ${place}`, { form: {} })
      assert.equal(answer.status, 405)
      assert.equal(answer.headers.get('allow'), 'GET, HEAD')
    }
  })
})

test('metadata of an issuer with a path is also available below that path, and contains it everywhere', async () => {
  const server = await startTestServer({ kind: 'sqlite' })
  const app = Fastify()
  try {
    const { system, clock } = server.host
    const base = `${issuer}/api/v1`
    const issuing = { system, clock, issuer: base } as Parameters<typeof mountMetadata>[1]['issuer']
    mountMetadata(app, { issuer: issuing, scopes: () => ({}) })
    for (const path of ['', '/api/v1']) {
      const metadata = (await app.inject(`${serverPlace}${path}`)).json()
      assert.equal(metadata.issuer, base)
      assert.equal(metadata.token_endpoint, `${base}/authorization/token`)
      const resource = (await app.inject(`${resourcePlace}${path}`)).json()
      assert.deepEqual([resource.resource, resource.authorization_servers], [base, [base]])
    }
  } finally {
    await app.close()
    await server.close()
  }
})
