import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { addUser, backendScopes, loadUserScopes } from '../../src/auth/index.ts'
import {
  addHostClient,
  addHostUser,
  changeHostClient,
  changeHostUser,
  changeHostUserPassword,
  changeHostUserScopes,
  changeHostUserStatus,
  findHostClient,
  findHostUser,
  issueHostToken,
  listHostAudit,
  renewHostClientSecret,
  type ActingHost,
} from '../../src/operate/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { asCommand, bearer, startTestServer, type TestServer } from '../support/server.ts'

const password = 'quiet-otter-4417'
const parts = { grants: undefined, redirectUris: [], public: false }

for (const kind of defaultKinds) {
  describe(`administration of access on ${kind}`, () => {
    let server: TestServer
    let command: ActingHost
    /** Acts over HTTP as root, with a token that has these scopes. */
    let as: (...scopes: string[]) => ActingHost
    let admin: ActingHost
    before(async () => {
      server = await startTestServer({ kind })
      command = asCommand(server.host)
    })
    after(() => server.close())
    beforeEach(async () => {
      const { db } = server.host.system
      await db.deleteFrom('waypost_client_scope').execute()
      await db.deleteFrom('waypost_client').where('user_id', 'is not', null).execute()
      await db.deleteFrom('waypost_user_scope').execute()
      await db.deleteFrom('waypost_user').execute()
      await db.deleteFrom('waypost_audit').execute()
      const root = await addUser(server.host.system, { name: 'root', scopes: [...backendScopes] })
      await addUser(server.host.system, { name: 'ann', scopes: ['consumer'] })
      as = (...scopes) => ({
        ...server.host,
        actor: { how: 'http', userId: root.id, name: 'root', clientId: 'client', scopes },
      })
      admin = as('backend.admin')
    })
    const scopesOf = async (name: string) => (await findHostUser(command, name)).scopes
    const actions = async () => (await listHostAudit(command, { limit: 100 })).entry.map(({ action }) => action)

    test('administrators grant every scope of the project, and of administration only what they have', async () => {
      await changeHostUser(admin, { user: 'ann', scopes: ['consumer', 'todo', 'order'] })
      assert.deepEqual(await scopesOf('ann'), ['consumer', 'order', 'todo'])
      await changeHostUser(admin, { user: 'root', scopes: [...backendScopes, 'todo'] })
      assert.ok((await scopesOf('root')).includes('todo'))
      await changeHostUser(admin, { user: 'ann', scopes: ['backend.admin'] })
      assert.deepEqual(await scopesOf('ann'), ['backend.admin'])
      for (const scope of [...backendScopes, 'backend.later'].filter((one) => one !== 'backend.admin')) {
        const refused = { code: 'WP_SERVER_GRANT', status: 403 }
        await assert.rejects(changeHostUser(admin, { user: 'ann', scopes: ['backend.admin', scope] }), refused, scope)
        await assert.rejects(addHostUser(admin, { name: 'new', scopes: [scope], admin: false }), refused, scope)
        const client = { name: 'shop', user: 'root', scopes: [scope], ...parts }
        await assert.rejects(addHostClient(admin, client), refused, scope)
        await assert.rejects(
          issueHostToken(admin, { user: 'root', scopes: [scope], expires: undefined }),
          refused,
          scope,
        )
        assert.deepEqual(await scopesOf('ann'), ['backend.admin'])
        await changeHostUser(as(scope, 'backend.admin'), { user: 'ann', scopes: ['backend.admin', scope] })
        await changeHostUser(admin, { user: 'ann', scopes: ['backend.admin'] }) // taking away is allowed
      }
      await assert.rejects(addHostUser(admin, { name: 'new', scopes: [], admin: true }), { code: 'WP_SERVER_GRANT' })
      assert.deepEqual(await scopesOf('ann'), ['backend.admin'])
      await changeHostUserScopes(command, { name: 'ann', add: ['backend.deploy'], remove: [] })
      // Scopes that stay are not granted again.
      await changeHostUser(admin, { user: 'ann', scopes: ['backend.admin', 'backend.deploy', 'todo'] })
    })

    test('nobody gains scopes of administration through the password or the client of another', async () => {
      const refused = { code: 'WP_SERVER_CONTROL', status: 403 }
      const { client_id: id } = await addHostClient(command, {
        name: 'ci',
        user: 'root',
        scopes: ['backend.deploy'],
        ...parts,
      })
      const change = { name: 'root', password, keepTokens: false }
      await assert.rejects(changeHostUserPassword(admin, change), refused)
      await assert.rejects(renewHostClientSecret(admin, id), refused)
      await assert.rejects(changeHostClient(admin, { client: id, redirectUris: ['https://evil.example/'] }), refused)
      await assert.rejects(changeHostClient(admin, { client: id, grants: ['client_credentials'] }), refused)
      await changeHostClient(admin, { client: id, name: 'other', status: 'disabled' })
      await renewHostClientSecret(as('backend.admin', 'backend.deploy'), id)
      await changeHostUserPassword(as(...backendScopes), change)
      await changeHostUserPassword(admin, { ...change, name: 'ann' })
      await renewHostClientSecret(command, id)
    })

    test('over HTTP the last administrator cannot be removed, by a command they can', async () => {
      const refused = { code: 'WP_SERVER_LAST_ADMINISTRATOR', status: 409 }
      const full = as(...backendScopes)
      await changeHostUserScopes(command, { name: 'ann', add: ['backend.admin'], remove: [] })
      await changeHostUserStatus(command, { name: 'ann', status: 'disabled' }) // a disabled one does not count
      const before = await actions()
      await assert.rejects(changeHostUser(full, { user: 'root', status: 'disabled' }), refused)
      await assert.rejects(changeHostUser(full, { user: 'root', scopes: [] }), refused)
      assert.deepEqual(await actions(), before)
      assert.deepEqual(await scopesOf('root'), [...backendScopes].toSorted())
      assert.equal((await findHostUser(command, 'root')).status, 'active')
      await changeHostUser(full, { user: 'ann', status: 'active' })
      assert.equal((await changeHostUser(full, { user: 'root', status: 'disabled' })).isLastAdministrator, false)
      await assert.rejects(changeHostUser(full, { user: 'ann', scopes: ['todo'] }), refused)
      const last = await changeHostUserScopes(command, { name: 'ann', add: [], remove: ['backend.admin'] })
      assert.equal(last.isLastAdministrator, true)
      assert.equal(
        (await changeHostUserStatus(command, { name: 'ann', status: 'disabled' })).isLastAdministrator,
        false,
      )
    })

    test('of two administrators who remove each other at the same time, one stays', async () => {
      for (let round = 0; round < 5; round++) {
        await changeHostUserScopes(command, { name: 'ann', add: ['backend.admin'], remove: [] })
        await changeHostUserStatus(command, { name: 'root', status: 'active' })
        await changeHostUserStatus(command, { name: 'ann', status: 'active' })
        const removals = await Promise.allSettled([
          changeHostUser(admin, { user: 'ann', status: 'disabled' }),
          changeHostUser(admin, { user: 'root', scopes: ['todo'] }),
        ])
        assert.deepEqual(removals.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
        await changeHostUserScopes(command, { name: 'root', add: [...backendScopes], remove: [] })
      }
    })

    test('a change is made only if the record is as its caller knows it', async () => {
      const { email } = await findHostUser(command, 'ann')
      const check = (current: { email: string | null }) => assert.equal(current.email, email, 'changed meanwhile')
      const { user } = await changeHostUser(admin, { user: 'ann', email: 'ann@example.com', check })
      assert.equal(user.email, 'ann@example.com')
      await assert.rejects(changeHostUser(admin, { user: 'ann', email: 'x@example.com', check }), /changed meanwhile/)
      assert.deepEqual(await actions(), ['user.change'])
      const { client_id: id } = await addHostClient(command, {
        name: 'shop',
        user: 'ann',
        scopes: ['consumer'],
        ...parts,
      })
      const known = await findHostClient(command, id)
      await changeHostClient(admin, { client: id, name: 'store', check: (current) => assert.deepEqual(current, known) })
      const again = changeHostClient(admin, {
        client: id,
        name: 'mall',
        check: (current) => assert.deepEqual(current, known),
      })
      await assert.rejects(again, { name: 'AssertionError' })
      assert.equal((await findHostClient(command, id)).name, 'store')
    })

    test('parts of a client change together, within the scopes of its owner, and servers learn of it', async () => {
      await changeHostUserScopes(command, { name: 'ann', add: ['todo'], remove: [] })
      const { client_id: id, client_secret: secret } = await addHostClient(command, {
        name: 'shop',
        user: 'ann',
        scopes: ['consumer', 'todo'],
        ...parts,
      })
      const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret! }
      const { body } = await server.send('POST /authorization/token', { form })
      const ask = async () => (await server.send('GET /todo', { headers: bearer(body.access_token) })).status
      assert.equal(await ask(), 200)
      const applying = { ...admin, applyChanges: () => server.server.feed.catchUp() }
      const { client } = await changeHostClient(applying, {
        client: id,
        name: 'store',
        scopes: ['consumer'],
        grants: ['authorization_code'],
        redirectUris: ['https://example.com/cb'],
      })
      assert.partialDeepStrictEqual(client, { name: 'store', scopes: ['consumer'], grants: ['authorization_code'] })
      assert.equal(await ask(), 403)
      const [row] = (await listHostAudit(command, { limit: 1 })).entry
      assert.equal(row!.action, 'client.change')
      assert.deepEqual(row!.before, {
        name: 'shop',
        scopes: ['consumer', 'todo'],
        grants: ['client_credentials', 'refresh_token'],
        redirect_uris: [],
      })
      const rejected = [
        [{ scopes: ['order'] }, 'WP_AUTH_SCOPE_LACKED'],
        [{ redirectUris: [] }, 'WP_AUTH_CLIENT_PARTS'],
        [{ redirectUris: ['javascript:alert(1)'] }, 'WP_AUTH_REDIRECT_URI'],
        [{ grants: ['magic'] }, 'WP_AUTH_GRANT_UNKNOWN'],
        [{ name: 'Waypost' }, 'WP_AUTH_CLIENT_NAME'],
      ] as const
      for (const [change, code] of rejected) {
        await assert.rejects(changeHostClient(admin, { client: id, ...change }), { code }, JSON.stringify(change))
      }
      await assert.rejects(changeHostClient(admin, { client: 'login', name: 'x' }), { code: 'WP_AUTH_CLIENT_BUILT_IN' })
      const unchanged = await changeHostClient(admin, { client: id, name: 'store', status: 'active' })
      assert.deepEqual(unchanged.client, client)
      assert.equal((await actions())[0], 'client.change')
      assert.equal((await actions()).filter((action) => action === 'client.change').length, 1)
    })

    test('a scope that is removed and granted in one request leaves the others alone', async () => {
      const ann = await findHostUser(command, 'ann')
      await Promise.all(
        ['a', 'b', 'c', 'd'].map((scope) => changeHostUserScopes(command, { name: 'ann', add: [scope], remove: [] })),
      )
      assert.deepEqual(await loadUserScopes(server.host.system.db, ann.id), ['a', 'b', 'c', 'consumer', 'd'])
    })
  })
}
