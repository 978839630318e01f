// The reason that the console of `dev` shows beside a request: why it was rejected, for developers of clients, and who
// called.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { addClient, addUser } from '../../src/auth/index.ts'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'

const redirectUri = 'https://app.example.com/callback'

describe('the console shows why OAuth2 rejected a request, and the caller', () => {
  const console = new EventEmitter<{ line: [reason: string | undefined]; caller: [user: string | undefined] }>()
  let server: ProjectServer
  let clientId: string
  before(async () => {
    const onResponse = ({ reason, user }: { reason: string | undefined; user: string | undefined }) => {
      console.emit('line', reason)
      console.emit('caller', user)
    }
    server = await openProjectServer({ files: readTemplate('todo'), onResponse })
    const { system } = server.host
    await addUser(system, { name: 'ann', password: 'correct horse battery', scopes: ['todo'] })
    const client = { name: 'app', user: 'ann', scopes: ['todo'], redirectUris: [redirectUri], public: true }
    clientId = (await addClient(system, { ...client, grants: ['authorization_code'] })).id
  })
  after(() => server[Symbol.asyncDispose]())

  const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) })
  const cases = [
    {
      name: 'a token request',
      path: () => '/authorization/token',
      init: form({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'nothing' }),
      status: 401,
      reason: 'invalid_client: Unknown client or wrong secret',
    },
    {
      name: 'an authorization request that ends at a page',
      path: () => `/authorization/authorize?client_id=${clientId}&redirect_uri=${redirectUri}&response_type=token`,
      status: 400,
      reason: 'unsupported_response_type: response_type must be code',
    },
    {
      name: 'an authorization request that goes back to the client',
      path: () =>
        `/authorization/authorize?client_id=${clientId}&redirect_uri=${redirectUri}&response_type=token&prompt=none`,
      status: 303,
      reason: 'unsupported_response_type: response_type must be code',
    },
    {
      name: 'an authorization request that goes nowhere',
      path: () => `/authorization/authorize?client_id=${clientId}&redirect_uri=https://other.example.com/`,
      status: 400,
      reason: 'The app asked to send you back to an address that is not registered for it.',
    },
  ]
  for (const { name, path, init, status, reason } of cases) {
    test(name, async () => {
      const said = once(console, 'line')
      const answer = await fetch(server.url + path(), { redirect: 'manual', ...init })
      await answer.body?.cancel()
      assert.equal(answer.status, status)
      assert.deepEqual(await said, [reason])
    })
  }

  for (const path of ['/authorization/whoami', '/consumer/account', '/consumer/client']) {
    test(`the caller of ${path}`, async () => {
      const { authorization } = await server.authorize('ann', ['consumer'])
      const said = once(console, 'caller')
      const answer = await fetch(server.url + path, { headers: { authorization } })
      await answer.body?.cancel()
      assert.equal(answer.status, 200)
      assert.deepEqual(await said, ['ann'])
    })
  }
})
