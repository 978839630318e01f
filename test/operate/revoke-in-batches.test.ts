// Changes that end many tokens: in batches, of which few are enough to show that nothing depends on one transaction.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { addClient, addUser, revokeRest } from '../../src/auth/index.ts'
import {
  changeHostClient,
  changeHostClientStatus,
  changeHostUser,
  changeHostUserPassword,
  changeHostUserStatus,
  declareRestored,
  revokeHostTokens,
  rotateHostKey,
  type ActingHost,
} from '../../src/operate/index.ts'
import { loadFacts } from '../../src/store/index.ts'
import { openTestHost, type TestHost } from '../events/host.ts'
import { defaultKinds } from '../support/forms.ts'
import { asCommand } from '../support/server.ts'

const count = 25
const size = 4
const hourMs = 3_600_000

for (const kind of defaultKinds) {
  describe(`many tokens, on ${kind}`, () => {
    let opened: TestHost
    let host: ActingHost
    let user: string
    let client: string
    const db = () => host.system.db
    before(async () => {
      opened = await openTestHost(kind)
      host = asCommand(opened.host)
    })
    after(() => opened.close())
    beforeEach(async () => {
      for (const table of ['user', 'token', 'token_family', 'audit'] as const)
        await db().deleteFrom(`waypost_${table}`).execute()
      await db().deleteFrom('waypost_client').where('name', '=', 'shop').execute()
      user = (await addUser(host.system, { name: 'ann', scopes: ['todo'] })).id
      const added = { name: 'shop', user: 'ann', public: true, redirectUris: ['http://localhost:1/'] }
      client = (await addClient(host.system, { ...added, grants: ['authorization_code'], scopes: ['todo'] })).id
      await addTokens(count, host.clock.now() - hourMs)
    })

    async function addTokens(size: number, at: number): Promise<void> {
      const ids = Array.from({ length: size }, (_, index) => `${at}-${String(index).padStart(3, '0')}`)
      const row = { user_id: user, client_id: client, scope: 'todo', created_at: at, expires_at: at + 24 * hourMs }
      await db()
        .insertInto('waypost_token_family')
        .values(ids.map((id) => ({ ...row, id })))
        .execute()
      await db()
        .insertInto('waypost_token')
        .values(ids.map((jti) => ({ ...row, jti, family_id: jti })))
        .execute()
    }

    /** How many families and tokens are valid. */
    async function countLeft(): Promise<readonly number[]> {
      const left = async (table: 'waypost_token_family' | 'waypost_token') =>
        (await db().selectFrom(table).select('user_id').where('revoked_at', 'is', null).execute()).length
      return [await left('waypost_token_family'), await left('waypost_token')]
    }

    async function readAudit() {
      const rows = await db().selectFrom('waypost_audit').select(['action', 'after']).execute()
      return rows.map(({ action, after }) => [action, (JSON.parse(after ?? '{}') as { tokens?: number }).tokens])
    }

    const changes: Readonly<
      Record<string, (batches: Parameters<typeof revokeHostTokens>[2]) => Promise<{ tokens: number }>>
    > = {
      'token.revoke': (batches) => revokeHostTokens(host, { user: 'ann' }, batches),
      'token.revoke of a client': (batches) => revokeHostTokens(host, { client: 'shop' }, batches),
      'user.disable': (batches) => changeHostUserStatus(host, { name: 'ann', status: 'disabled' }, batches),
      'client.disable': (batches) => changeHostClientStatus(host, { client: 'shop', status: 'disabled' }, batches),
      'user.password': (batches) =>
        changeHostUserPassword(host, { name: 'ann', password: 'a password of four words', keepTokens: false }, batches),
    }
    for (const [name, change] of Object.entries(changes)) {
      test(`are revoked by ${name} in batches, after the transaction with the audit row`, async () => {
        const done: number[] = []
        const { tokens } = await change({ size, onBatch: (number) => done.push(number) })
        // Families first.
        assert.deepEqual(done, [...Array.from({ length: 7 }, () => 0), 4, 8, 12, 16, 20, 24, 25])
        assert.deepEqual([tokens, await countLeft(), await readAudit()], [count, [0, 0], [[name.split(' ')[0], count]]])
      })
    }

    test('are revoked with the change if they are no more than a batch', async () => {
      for (const change of Object.values(changes)) await change({ size: count, onBatch: () => assert.fail() })
      assert.deepEqual(await countLeft(), [0, 0])
    })

    test('that are interrupted belong to a user who is disabled already, and the next call continues', async () => {
      const change = changes['user.disable']!
      const killed = new Error('killed')
      const onBatch = (number: number) => {
        if (number === 8) throw killed
      }
      await assert.rejects(change({ size, onBatch }), (error) => error === killed)
      const { status } = await db().selectFrom('waypost_user').select('status').executeTakeFirstOrThrow()
      assert.deepEqual([await countLeft(), status], [[0, count - 8], 'disabled'])
      assert.deepEqual(await readAudit(), [['user.disable', count]])
      assert.equal((await change({ size })).tokens, count - 8)
      assert.deepEqual(await countLeft(), [0, 0])
    })

    test('that an interrupted disabling has left are revoked when the user or client is enabled', async () => {
      const onBatch = () => {
        throw new Error('killed')
      }
      for (const [who, set] of [
        ['user', (status: 'active' | 'disabled') => changeHostUser(host, { user: 'ann', status }, { size, onBatch })],
        [
          'client',
          (status: 'active' | 'disabled') => changeHostClient(host, { client: 'shop', status }, { size, onBatch }),
        ],
      ] as const) {
        await assert.rejects(set('disabled'), { message: 'killed' }, who)
        assert.equal((await countLeft())[1], count)
        await set('active')
        assert.deepEqual(await countLeft(), [0, 0])
        await db().updateTable('waypost_token').set({ revoked_at: null }).execute()
        await db().updateTable('waypost_token_family').set({ revoked_at: null }).execute()
      }
    })

    test('are found revoked by servers between the batches', async () => {
      const position = async () =>
        (await db().selectFrom('waypost_feed_head').select('position').executeTakeFirstOrThrow()).position
      const before = await position()
      const onBatch = (number: number) => {
        if (number === 4) throw new Error('killed')
      }
      await assert.rejects(revokeHostTokens(host, { user: 'ann' }, { size, onBatch }), { message: 'killed' })
      assert.equal(await position(), before + 2, 'the change, and the list of families')
      await revokeHostTokens(host, { user: 'ann' }, { size })
      assert.equal(await position(), before + 5, 'the change, the list of tokens, and the end')
    })

    test('stay valid if the change is refused', async () => {
      const refused = new Error('changed meanwhile')
      const check = () => {
        throw refused
      }
      const isRefused = (error: unknown) => error === refused
      await assert.rejects(changeHostUser(host, { user: 'ann', status: 'disabled', check }, { size }), isRefused)
      await assert.rejects(changeHostClient(host, { client: 'shop', status: 'disabled', check }, { size }), isRefused)
      await sql`update waypost_user_scope set scope = 'backend.admin' where user_id = ${user}`.execute(db())
      const asPage = {
        ...host,
        actor: { how: 'http', userId: user, name: 'ann', clientId: client, scopes: ['backend.admin'] } as const,
      }
      const disabling = changeHostUser(asPage, { user: 'ann', status: 'disabled' }, { size })
      await assert.rejects(disabling, { code: 'WP_SERVER_LAST_ADMINISTRATOR' })
      assert.deepEqual(await countLeft(), [count, count])
    })

    test('of a withdrawn key are refused before the first batch, and those of the new key stay valid', async () => {
      await rotateHostKey(host)
      await db().deleteFrom('waypost_audit').execute()
      const seen: unknown[] = []
      const onBatch = () => {
        if (seen.length === 0) seen.push(db().selectFrom('waypost_key').select('retired_at').execute())
      }
      await addTokens(3, host.clock.now())
      const rotating = rotateHostKey(host, { withdraw: true, size, onBatch })
      const rotation = await rotating
      assert.deepEqual(await seen[0], [{ retired_at: null }], 'only the new key')
      assert.deepEqual([rotation.tokens, await countLeft()], [count + 3, [count + 3, 0]])
      assert.deepEqual(await readAudit(), [['key.rotate', count + 3]])
    })

    test('of a withdrawn key are revoked if they are fewer than a batch', async () => {
      const rotation = await rotateHostKey(host, { withdraw: true, size: count + 1 })
      assert.deepEqual([rotation.tokens, await countLeft()], [count, [count, 0]])
    })

    test('of a restored System are revoked in batches', async () => {
      const done: number[] = []
      const options = {
        revokeTokens: true,
        confirm: async () => true,
        size,
        onBatch: (number: number) => done.push(number),
      }
      await declareRestored(host, options)
      assert.deepEqual([done.at(-1), await countLeft()], [count, [0, 0]])
    })

    test('of a restored System are revoked after deliveries are held and servers have dropped their caches', async () => {
      const position = async () =>
        (await db().selectFrom('waypost_feed_head').select('position').executeTakeFirstOrThrow()).position
      const onBatch = () => {
        throw new Error('killed')
      }
      const before = await position()
      const options = { revokeTokens: true, deliveries: 'hold', confirm: async () => true, size } as const
      await assert.rejects(declareRestored(host, { ...options, onBatch }), { message: 'killed' })
      const gap = (await position()) - before
      assert.ok(gap > 1_000_000, String(gap))
      assert.notEqual((await loadFacts(host.system)).deliveries_held, undefined)
      await declareRestored(host, options)
      assert.deepEqual([(await position()) - before, await countLeft()], [3 * gap, [0, 0]])
    })

    test('of the family, and the token, that are excepted stay valid', async () => {
      const at = host.clock.now() - hourMs
      const except = { familyId: `${at}-000`, jti: `${at}-001` }
      await db().deleteFrom('waypost_token').execute()
      await db().deleteFrom('waypost_token_family').execute()
      await addTokens(count, at)
      const rows = { of: { userId: user }, now: host.clock.now(), except }
      await revokeRest(host.system, rows, { isLeft: true, size })
      const left = await db().selectFrom('waypost_token').select('jti').where('revoked_at', 'is', null).execute()
      assert.deepEqual([await countLeft(), left], [[1, 1], [{ jti: except.jti }]])
    })

    if (kind === 'postgresql') {
      test('that another transaction has locked are passed over, and revoked last', async () => {
        const { promise: passed, resolve } = Promise.withResolvers<void>()
        const onBatch = (number: number) => {
          if (number === count - 1) resolve()
        }
        const started = await db()
          .transaction()
          .execute(async (trx) => {
            const one = trx.selectFrom('waypost_token').select('jti').orderBy('jti').limit(1)
            await one.forUpdate().execute()
            const of = { userId: user }
            const revoking = revokeRest(host.system, { of, now: host.clock.now() }, { isLeft: true, size, onBatch })
            await passed
            return { revoking } // not awaited here
          })
        await started.revoking
        assert.deepEqual(await countLeft(), [0, 0])
      })
    }
  })
}
