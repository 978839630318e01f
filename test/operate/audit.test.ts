import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { addUser } from '../../src/auth/index.ts'
import {
  addHostClient,
  addHostUser,
  changeHostClientStatus,
  changeHostIssuer,
  changeHostUserPassword,
  changeHostUserScopes,
  changeHostUserStatus,
  declareRestored,
  enableHostSubscriptions,
  endHostSubscriptions,
  issueHostToken,
  listHostAudit,
  pruneHostReleases,
  renewHostClientSecret,
  replayHostDeliveries,
  replayHostDelivery,
  resumeHostDeliveries,
  retryHostDelivery,
  revokeHostTokens,
  rotateHostKey,
  rotateHostSecret,
  type ActingHost,
  type ListedAudit,
} from '../../src/operate/index.ts'
import { activateRelease, releaseId, rollBack } from '../../src/release/index.ts'
import { auditActions, inOneTransaction, recordChanges, writeAudit, type Actor } from '../../src/store/index.ts'
import { makeRelease } from '../release/system.ts'
import { asCommand, issuer, startTestServer, type TestServer } from '../support/server.ts'
import { chooseKinds } from '../support/forms.ts'

const tester: Actor = { how: 'command', name: 'tester' }
const caller: Actor = {
  how: 'http',
  userId: '11111111-1111-4111-8111-111111111111',
  name: 'ada',
  clientId: '22222222-2222-4222-8222-222222222222',
  scopes: ['backend.admin'],
}
const yes = () => Promise.resolve(true)

for (const kind of chooseKinds('postgresql')) {
  describe(`audit log on ${kind}`, () => {
    let server: TestServer
    let host: ActingHost
    before(async () => {
      server = await startTestServer({ kind })
      host = asCommand(server.host)
    })
    after(() => server.close())

    const rows = async () => (await listHostAudit(host, { limit: 500 })).entry
    /** Runs a change and returns the rows that it wrote, oldest first. */
    const audited = async (change: () => Promise<unknown>): Promise<readonly ListedAudit[]> => {
      const known = new Set((await rows()).map(({ id }) => id))
      await change()
      return (await rows()).filter(({ id }) => !known.has(id)).toReversed()
    }
    const addSubscription = async (id: string, user: string, status: 'active' | 'disabled' = 'active') => {
      const endpoint = 'https://example.com/hook?key=hidden'
      const values = {
        id,
        event: 'note',
        endpoint,
        status,
        revision: 1,
        secret: 'enciphered',
        failures: 0,
        created_at: 1,
      }
      await host.system.db
        .insertInto('waypost_subscription')
        .values({ ...values, user_id: user, client_id: id })
        .execute()
    }
    const addDead = async (id: string, subscription: string) => {
      const { db } = host.system
      const message = { id: `msg_${id}`, event: 'note', data: '"body"', users: null, created_at: 1, fanned_out_at: 1 }
      await db.insertInto('waypost_message').values(message).execute()
      const times = { due_at: 1, scheduled_at: 1, created_at: 1, finished_at: Date.now() }
      const delivery = { id, message_id: message.id, subscription_id: subscription, failures: 4, lost: 0 }
      await db
        .insertInto('waypost_delivery')
        .values({ ...delivery, ...times, status: 'dead' })
        .execute()
    }

    test('every change of administration is recorded with its subject and what changed, and without secrets', async () => {
      const secrets: string[] = ['enciphered', 'hidden', 'body']
      const { system } = host
      const bob = await addUser(system, { name: 'bob', scopes: [] })
      await addSubscription('sub_1', bob.id)
      await addSubscription('sub_2', bob.id)
      await addDead('dlv_1', 'sub_1')
      await addDead('dlv_2', 'sub_1')
      let client = ''
      let token = ''
      const by = 'tester'
      const [first, second] = [makeRelease('first'), makeRelease('second')]
      const prunable = [makeRelease('third'), makeRelease('fourth')]
      const rotating = { ...host, variables: { ...host.variables, WAYPOST_SECRET: '' } }
      const next = 'a new secret that is long enough for a test'
      rotating.variables['WAYPOST_SECRET'] = `${next},${host.variables['WAYPOST_SECRET']}`
      secrets.push(next)
      const keep = (secret: string) => void secrets.push(secret)
      const changes: readonly [action: string, change: () => Promise<unknown>, facts: object][] = [
        [
          'user.add',
          () => {
            keep('otter-4417-quiet')
            const password = 'otter-4417-quiet'
            return addHostUser(host, { name: 'ann', email: 'a@example.com', password, scopes: ['todo'], admin: false })
          },
          { subject: 'ann', after: { email: 'a@example.com', scopes: ['consumer', 'todo'] } },
        ],
        [
          'user.scopes',
          () => changeHostUserScopes(host, { name: 'ann', add: ['order'], remove: ['consumer'] }),
          { subject: 'ann', before: { scopes: ['consumer', 'todo'] }, after: { scopes: ['order', 'todo'] } },
        ],
        [
          'client.add',
          async () => {
            const parts = { scopes: undefined, grants: undefined, redirectUris: [], public: false }
            const added = await addHostClient(host, { name: 'shop', user: 'ann', ...parts })
            client = added.client_id
            keep(added.client_secret!)
          },
          { subject: 'shop', after: { user: 'ann', scopes: ['order', 'todo'], public: false } },
        ],
        [
          'client.secret',
          async () => keep((await renewHostClientSecret(host, client)).client_secret),
          { subject: 'shop' },
        ],
        [
          'token.issue',
          async () => {
            const issued = await issueHostToken(host, { user: 'ann', scopes: ['todo'], expires: '1h' })
            keep(issued.access_token.split('.')[2]!)
            token = issued.jti
          },
          { after: { user: 'ann', scopes: ['todo'] } },
        ],
        ['token.revoke', () => revokeHostTokens(host, { jti: token }), { after: { user: 'ann', tokens: 1 } }],
        [
          'token.revoke',
          () => revokeHostTokens(host, { user: 'ann' }),
          { subject: null, after: { user: 'ann', tokens: 0 } },
        ],
        [
          'user.password',
          () => {
            keep('badger-2231-loud')
            return changeHostUserPassword(host, { name: 'ann', password: 'badger-2231-loud', keepTokens: false })
          },
          { subject: 'ann', after: { tokens: 0 } },
        ],
        [
          'client.disable',
          () => changeHostClientStatus(host, { client, status: 'disabled' }),
          { subject: 'shop', before: { status: 'active' }, after: { status: 'disabled' } },
        ],
        [
          'client.enable',
          () => changeHostClientStatus(host, { client, status: 'active' }),
          { after: { status: 'active' } },
        ],
        [
          'user.disable',
          () => changeHostUserStatus(host, { name: 'ann', status: 'disabled' }),
          { before: { status: 'active' } },
        ],
        [
          'user.enable',
          () => changeHostUserStatus(host, { name: 'ann', status: 'active' }),
          { after: { status: 'active' } },
        ],
        ['delivery.replay', () => replayHostDelivery(host, 'dlv_1'), { subject: 'dlv_1' }],
        ['delivery.retry', () => retryHostDelivery(host, 'dlv_1'), { subject: 'dlv_1' }],
        [
          'delivery.replay',
          () => replayHostDeliveries(host, { since: { agoMs: 60_000 }, event: 'note', limit: 10, confirm: yes }),
          { subject: null, after: { event: 'note', deliveries: 1 } },
        ],
        [
          'subscription.disable',
          () => endHostSubscriptions(host, { id: 'sub_1', to: 'barred' }),
          { subject: 'sub_1', before: { event: 'note', endpoint: 'https://example.com', user: 'bob' } },
        ],
        ['subscription.enable', () => enableHostSubscriptions(host, { user: 'bob' }), { after: { subscriptions: 1 } }],
        [
          'subscription.delete',
          () => endHostSubscriptions(host, { user: 'bob', to: 'deleted' }),
          { before: { user: 'bob' }, after: { subscriptions: 2 } },
        ],
        [
          'delivery.hold',
          () => changeHostIssuer(host, { url: issuer, deliveries: 'hold', confirm: yes }),
          { subject: null },
        ],
        ['delivery.resume', () => resumeHostDeliveries(host, { choice: 'send', confirm: yes }), { subject: null }],
        ['delivery.cancel', () => resumeHostDeliveries(host, { choice: 'cancel', confirm: yes }), { subject: null }],
        ['key.rotate', () => rotateHostKey(host), { after: { tokens: 0, withdrawn: [] } }],
        ['secret.rotate', () => rotateHostSecret(rotating, { force: true }), { subject: null }],
        [
          'issuer.change',
          () => changeHostIssuer(host, { url: 'https://b.example.com', confirm: yes }),
          { before: { issuer }, after: { issuer: 'https://b.example.com' } },
        ],
        [
          'release.activate',
          () => activateRelease(system, first, { by, actor: tester, message: 'hi' }),
          { subject: releaseId(first.manifest).slice(0, 8), after: { message: 'hi' } },
        ],
        [
          'release.rollback',
          async () => {
            await activateRelease(system, second, { by })
            await rollBack(system, releaseId(first.manifest), { by, actor: tester })
          },
          { before: { release: releaseId(second.manifest).slice(0, 8) } },
        ],
        [
          'release.prune',
          async () => {
            for (const release of [...prunable, first]) await activateRelease(system, release, { by })
            await pruneHostReleases(host, { keep: 1 })
          },
          {},
        ],
        ['system.restore', () => declareRestored(host, { revokeTokens: false, confirm: yes }), { subject: null }],
      ]
      for (const [action, change, facts] of changes) {
        const [row, ...more] = await audited(change)
        assert.deepEqual(more, [], action)
        const { subject, ...rest } = row!
        const name = subject?.name ?? null
        assert.partialDeepStrictEqual({ ...rest, subject: name }, { action, how: 'command', ...facts }, action)
        assert.deepEqual(row!.user, { id: null, name: 'tester' })
        assert.equal(row!.kind, action.split('.')[0])
      }
      const known = new Set<string>((await rows()).map(({ action }) => action))
      const later = new Set([
        'client.change',
        'cronjob.run',
        'delivery.test',
        'migration.accept',
        'row.add',
        'row.change',
        'row.delete',
        'row.export',
        'row.import',
        'subscription.add',
        'subscription.change',
        'subscription.secret',
        'user.change',
        'variable.set',
        'variable.unset',
      ])
      assert.deepEqual(
        auditActions.filter((action) => !known.has(action) && !later.has(action)),
        [],
      )
      host = { ...rotating, variables: { ...rotating.variables, WAYPOST_BASE_URL: 'https://b.example.com' } }
      const all = JSON.stringify(await system.db.selectFrom('waypost_audit').selectAll().execute())
      for (const secret of secrets) assert.equal(all.includes(secret), false, secret)
    })

    test('what changes nothing is not recorded', async () => {
      const nothing = [
        () => changeHostUserScopes(host, { name: 'ann', add: [], remove: [] }),
        () => endHostSubscriptions(host, { user: 'ann', to: 'deleted' }),
        () => enableHostSubscriptions(host, { user: 'ann' }),
        () => pruneHostReleases(host, { keep: 100 }),
        () => pruneHostReleases(host, { keep: 0, dryRun: true }),
        () => changeHostIssuer(host, { url: 'https://c.example.com', confirm: () => Promise.resolve(false) }),
        () => replayHostDeliveries(host, { since: { agoMs: 1 }, event: 'gone', limit: 10, confirm: yes }),
        () => addHostUser(host, { name: 'ann', scopes: [], admin: false }).catch(() => undefined),
        () => revokeHostTokens(host, { jti: 'nope' }).catch(() => undefined),
      ]
      assert.deepEqual(await audited(async () => Promise.all(nothing.map((change) => change()))), [])
    })

    test('without its record a change does not happen, and no server is told of it', async () => {
      const { db } = host.system
      const feed = () => db.selectFrom('waypost_feed').select('position').execute()
      const before = await feed()
      await sql`alter table waypost_audit rename to waypost_audit_away`.execute(db)
      try {
        await assert.rejects(changeHostUserStatus(host, { name: 'ann', status: 'disabled' }), /waypost_audit/)
        await assert.rejects(addHostUser(host, { name: 'eve', scopes: [], admin: true }), /waypost_audit/)
        const release = makeRelease('unrecorded')
        await assert.rejects(activateRelease(host.system, release, { by: 'x', actor: tester }), /waypost_audit/)
        await assert.rejects(issueHostToken(host, { user: 'ann', scopes: [], expires: undefined }), /waypost_audit/)
      } finally {
        await sql`alter table waypost_audit_away rename to waypost_audit`.execute(db)
      }
      const users = await db.selectFrom('waypost_user').select(['name', 'status']).orderBy('name').execute()
      assert.deepEqual(
        users.map(({ name, status }) => `${name} ${status}`),
        ['ann active', 'bob active'],
      )
      assert.deepEqual(await feed(), before)
    })

    test('a change of a request names its user and client', async () => {
      const acting = { ...host, actor: caller }
      const [row] = await audited(() => changeHostUserStatus(acting, { name: 'bob', status: 'disabled' }))
      assert.partialDeepStrictEqual(row, {
        how: 'http',
        user: { id: caller.userId, name: 'ada' },
        clientId: caller.clientId,
        subject: { name: 'bob' },
      })
    })

    test('texts of a row are bounded, also those that PostgreSQL cannot store', async () => {
      const long = 'x'.repeat(10_000)
      const message = `a\0${long}`
      await writeAudit(
        host.system,
        { how: 'command', name: long },
        {
          action: 'release.activate',
          subject: { id: long, name: message },
          after: { message, scopes: Array.from({ length: 1000 }, () => long) },
        },
      )
      const [row] = await rows()
      assert.equal(row!.user.name.length, 200)
      assert.match(row!.subject!.name, /^ax+…$/)
      assert.ok(JSON.stringify(row!.after).length < 12_000)
    })

    test('functions that share a transaction see what they wrote, and tell servers once, at its end', async () => {
      const { system } = host
      const position = async () =>
        (await system.db.selectFrom('waypost_feed_head').select('position').executeTakeFirstOrThrow()).position
      const before = await position()
      await inOneTransaction(system, async (joined) => {
        const user = await addUser(joined, { name: 'joined', scopes: [] })
        await joined.transaction((trx) => recordChanges(joined, trx, [{ kind: 'user', subject: user.id }]))
        const found = joined.db.selectFrom('waypost_user').select('name').where('id', '=', user.id)
        assert.equal((await found.executeTakeFirst())?.name, 'joined')
        await joined.transaction((trx) => recordChanges(joined, trx, [{ kind: 'client', subject: 'c' }]))
      })
      assert.equal(await position(), before + 2)
      const failed = inOneTransaction(system, async (joined) => {
        await addUser(joined, { name: 'undone', scopes: [] })
        throw new Error('no')
      })
      await assert.rejects(failed, /no/)
      const undone = system.db.selectFrom('waypost_user').select('name').where('name', '=', 'undone')
      assert.equal(await undone.executeTakeFirst(), undefined)
    })
  })
}
