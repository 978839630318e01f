import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Host } from '../../src/host/index.ts'
import {
  addHostClient,
  addHostUser,
  changeHostUserStatus,
  findHostClient,
  findHostUser,
  issueHostToken,
  listHostClients,
  listHostTokens,
  listHostUsers,
  revokeHostTokens,
} from '../../src/operate/index.ts'
import { listRows, type Page } from '../../src/store/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { asCommand, startTestServer, type TestServer } from '../support/server.ts'

for (const kind of defaultKinds) {
  describe(`lists of administration on ${kind}`, () => {
    let server: TestServer
    let host: Host
    before(async () => {
      server = await startTestServer({ kind })
      host = server.host
      for (const name of ['bob', 'ann', 'cem']) {
        await addHostUser(asCommand(host), { name, scopes: name === 'cem' ? [] : ['todo', name], admin: false })
      }
    })
    after(() => server.close())

    test('users are sorted by name, with their scopes', async () => {
      const { entry: users } = await listHostUsers(host, { limit: 100 })
      const listed = users.filter(({ name }) => ['ann', 'bob', 'cem'].includes(name))
      assert.deepEqual(
        listed.map(({ name, email, status, scopes }) => ({ name, email, status, todo: scopes.includes('todo') })),
        [
          { name: 'ann', email: null, status: 'active', todo: true },
          { name: 'bob', email: null, status: 'active', todo: true },
          { name: 'cem', email: null, status: 'active', todo: false },
        ],
      )
      assert.deepEqual(listed[0]!.scopes, listed[0]!.scopes.toSorted())
      assert.ok(listed.every(({ createdAt }) => Number.isInteger(createdAt)))
    })

    test('users can be limited, and filtered by a scope', async () => {
      const names = async (filter: { scope?: string; limit: number }) =>
        (await listHostUsers(host, filter)).entry.map(({ name }) => name)
      assert.deepEqual(await names({ scope: 'bob', limit: 10 }), ['bob'])
      assert.deepEqual(await names({ scope: 'todo', limit: 1 }), ['ann'])
      assert.deepEqual(await names({ scope: "o'none", limit: 10 }), [])
      assert.equal((await listHostUsers(host, { limit: 2 })).entry.length, 2)
    })

    test('clients come with their owner and scopes, all of them or those of one user', async () => {
      const request = { scopes: ['todo'], grants: undefined, redirectUris: [], public: false }
      const { client_id: id } = await addHostClient(asCommand(host), { ...request, name: 'report', user: 'ann' })
      await addHostClient(asCommand(host), { ...request, name: 'other', user: 'bob' })
      const [own, ...rest] = (await listHostClients(host, { user: 'ann', limit: 10 })).entry
      assert.deepEqual(rest, [])
      assert.deepEqual(
        { ...own, createdAt: 0 },
        {
          id,
          name: 'report',
          user: 'ann',
          userId: (await findHostUser(host, 'ann')).id,
          isPublic: false,
          status: 'active',
          grants: ['client_credentials', 'refresh_token'],
          scopes: ['todo'],
          redirectUris: [],
          createdAt: 0,
        },
      )
      const { entry: all } = await listHostClients(host, { limit: 100 })
      assert.deepEqual(all.map(({ name }) => name).toSorted(), [
        'API reference',
        'Backend',
        'Portal',
        'login',
        'other',
        'report',
      ])
      assert.deepEqual(all.find(({ name }) => name === 'login')?.user, null)
      await assert.rejects(listHostClients(host, { user: 'nope', limit: 1 }), { code: 'WP_AUTH_USER_UNKNOWN' })
    })

    test('tokens are listed while they are valid', async () => {
      const issue = (user: string) => issueHostToken(asCommand(host), { user, scopes: ['todo'], expires: undefined })
      await issue('ann')
      await issue('bob')
      await issue('bob')
      const users = async (filter: { user?: string; client?: string } = {}) =>
        (await listHostTokens(host, { ...filter, limit: 10 })).entry.map(({ user }) => user).toSorted()
      assert.deepEqual(await users(), ['ann', 'bob', 'bob'])
      assert.deepEqual(await users({ user: 'ann' }), ['ann'])
      assert.deepEqual(await users({ client: 'report' }), [])
      await changeHostUserStatus(asCommand(host), { name: 'ann', status: 'disabled' })
      assert.deepEqual(await users(), ['bob', 'bob'])
      const [first] = (await listHostTokens(host, { limit: 1 })).entry
      assert.deepEqual([first?.client.name, first?.scopes, first?.usedAt], ['login', ['todo'], null])
      await revokeHostTokens(asCommand(host), { user: 'bob' })
      assert.deepEqual(await users(), [])
    })

    test('each order has pages without gaps or repetitions, also where values are equal', async () => {
      const { db } = host.system
      const many = Array.from({ length: 25 }, (_, index) => `u${String(index).padStart(2, '0')}`)
      await db
        .insertInto('waypost_user')
        .values(many.map((name, index) => ({ id: name, name, status: 'active', created_at: Math.floor(index / 10) })))
        .execute()
      await db
        .insertInto('waypost_client')
        .values(
          many.map((id, index) => {
            const parts = { grants: '', redirect_uris: '[]', status: 'active' as const, user_id: 'u00' }
            return { id, name: `same ${index % 3}`, created_at: 5, ...parts }
          }),
        )
        .execute()
      const readAll = async <Entry>(load: (cursor?: string) => Promise<Page<Entry>>) => {
        const entries: Entry[] = []
        for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
          const page = await load(cursor)
          entries.push(...page.entry)
          cursor = page.next
        }
        return entries
      }
      for (const sort of ['name', '-name', 'created', '-created'] as const) {
        const users = await readAll((cursor) => listHostUsers(host, { search: 'U', sort, cursor, limit: 4 }))
        const wanted = await listHostUsers(host, { search: 'U', sort, limit: 100 })
        assert.deepEqual(users, wanted.entry)
        assert.deepEqual(users.map(({ name }) => name).toSorted(), many)
        const names = users.map(({ name }) => name)
        assert.deepEqual(names, sort.startsWith('-') ? many.toReversed() : many)
        const clients = await readAll((cursor) => listHostClients(host, { user: 'u00', sort, cursor, limit: 4 }))
        assert.deepEqual(clients.map(({ id }) => id).toSorted(), many, sort)
        const keys = clients.map(({ id, name, createdAt }) => `${sort.endsWith('name') ? name : createdAt} ${id}`)
        assert.deepEqual(keys, sort.startsWith('-') ? keys.toSorted().toReversed() : keys.toSorted(), sort)
      }
      const { next } = await listHostUsers(host, { sort: 'name', limit: 1 })
      await assert.rejects(listHostUsers(host, { sort: '-name', cursor: next, limit: 1 }), { code: 'WP_STORE_CURSOR' })
      await assert.rejects(listHostUsers(host, { sort: 'created', cursor: next, limit: 1 }), {
        code: 'WP_STORE_CURSOR',
      })
      assert.deepEqual(
        (await listHostUsers(host, { search: 'U1', limit: 3 })).entry.map(({ name }) => name),
        ['u10', 'u11', 'u12'],
      )
      assert.deepEqual(
        (await listHostUsers(host, { search: '%', status: 'disabled', limit: 3 })).entry.length <= 1,
        true,
      )
      assert.equal((await findHostClient(host, 'report')).user, 'ann')
    })

    test('rows can be skipped', async () => {
      const all = await listRows(host.system, 'User', { orderBy: { name: 'desc' } })
      const page = await listRows(host.system, 'User', { orderBy: { name: 'desc' }, limit: 1, offset: 1 })
      assert.deepEqual(
        page.map(({ name }) => name),
        [all[1]!.name],
      )
    })
  })
}
