import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { addUser, issueTokens, openKeyRing, openTokenIssuer, loginClientId } from '../../src/auth/index.ts'
import { defaultSettings, makeSortedId } from '../../src/kit/index.ts'
import { successColumns } from '../../src/events/index.ts'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { openPruner } from '../../src/jobs/retention/pruner.ts'
import { pruneSystem } from '../../src/jobs/retention/prune.ts'
import {
  boundedTables,
  prunedSeparately,
  retentionRules,
  type RetentionRule,
} from '../../src/jobs/retention/retention.ts'
import { entities } from '../../src/store/entities.ts'
import { activateRelease } from '../../src/release/index.ts'
import { recordChanges, startFeed, type System, type SystemTables } from '../../src/store/index.ts'
import { makeRelease } from '../release/system.ts'
import { bearer, startTestServer, type TestServer } from '../support/server.ts'
import { defaultKinds } from '../support/forms.ts'

const dayMs = 86_400_000

test('each table of System has a rule or is listed as one without', () => {
  const listed = [...retentionRules.map(({ table }) => table), ...prunedSeparately, ...boundedTables]
  assert.deepEqual([...new Set(listed)].toSorted(), entities.map(({ meta }) => meta.tableName).toSorted())
})

test('each entry of the setting "keep" prunes something', () => {
  const used = new Set([...retentionRules.map(({ keep }) => keep), 'releases'])
  assert.deepEqual(
    Object.keys(defaultSettings.keep).filter((name) => !used.has(name as keyof typeof defaultSettings.keep)),
    [],
  )
})

test('every rule names a primary key and a column of its table', () => {
  for (const { table, key, column } of retentionRules) {
    const entity = entities.find(({ meta }) => meta.tableName === table)
    const properties = entity?.meta.properties as Record<string, { primary?: boolean }>
    assert.deepEqual([properties[key]?.primary, column in properties], [true, true], table)
  }
})

for (const kind of defaultKinds) {
  describe(`pruning on ${kind}`, () => {
    let server: TestServer
    let system: System
    before(async () => {
      server = await startTestServer({ kind })
      system = server.host.system
    })
    after(() => server.close())

    const count = async (table: keyof SystemTables) => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
        system.db,
      )
      return rows[0]!.count
    }
    const prune = (options = {}) => pruneSystem(system, { settings: defaultSettings, ...options })

    /** A row of a table with a rule; everything but its key and the column that the rule looks at may be anything. */
    const addRow = async (table: string, { id, column, at }: { id: string; column: string; at: number }) => {
      const { properties, tableName } = entities.find(({ meta }) => meta.tableName === table)!.meta
      const columns = Object.entries(
        properties as Record<string, { nullable?: boolean; primary?: boolean; type: { name?: string } }>,
      )
      const values = columns
        .filter(([name, { nullable }]) => name === column || nullable !== true)
        .map(([name, { primary, type }]) => {
          if (name === column || name.endsWith('_at')) return [name, at]
          return [name, primary ? id : type.name === 'IntegerType' || name === 'count' ? 1 : `text ${id}`]
        })
      await system.db
        .insertInto(tableName as 'waypost_token')
        .values(Object.fromEntries(values))
        .execute()
    }

    // Statistics have two rules, which statistics.test.ts tests; run-totals.test.ts has totals of runs; runs of cronjobs and cleared columns have tests below.
    const isSimple = ({ keepNewest, clear, table }: RetentionRule) =>
      keepNewest === undefined &&
      clear === undefined &&
      table !== 'waypost_statistic' &&
      table !== 'waypost_run_total' &&
      table !== 'waypost_cronjob_run'
    const simple = retentionRules.filter(isSimple)
    for (const { table, column, keep, keepNewest, sortedBy } of simple) {
      test(`${table}: only rows that expired longer ago than the retention period are deleted (${String(keep)})`, async () => {
        assert.equal(keepNewest, undefined)
        const keepMs = typeof keep === 'number' ? keep : defaultSettings.keep[keep]
        const before = await count(table)
        for (const at of [Date.now() - keepMs - 60_000, Date.now() - keepMs + 60_000]) {
          await addRow(table, { id: makeSortedId(sortedBy?.[1] ?? 'dlv_', at), column, at })
        }
        assert.deepEqual(await prune(), { [table]: 1 })
        assert.equal(await count(table), before + 1)
        await system.db
          .deleteFrom(table as 'waypost_token')
          .where(sql.ref(column), '<', Date.now())
          .execute()
      })
    }

    test('the newest 100 runs of each cronjob are kept; those of a removed one for 30 days', async () => {
      const { db } = system
      const job = { name: 'tidy', schedule: '* * * * *', timezone: 'UTC', slot_at: 1, failures: 0 }
      await db.insertInto('waypost_cronjob').values(job).execute()
      const now = Date.now()
      const add = (cronjob: string, id: string, at: number) =>
        db
          .insertInto('waypost_cronjob_run')
          .values({ id, cronjob, slot_at: at, started_at: at, server: 'host' })
          .execute()
      for (let index = 0; index < 105; index++) await add('tidy', `run_${index}`, 1000 + index)
      await add('other', 'run_old', now - 31 * dayMs)
      await add('other', 'run_new', now - 29 * dayMs)
      assert.deepEqual(await prune({ chunk: 2 }), { waypost_cronjob_run: 6 })
      const left = await db.selectFrom('waypost_cronjob_run').select('id').orderBy('started_at').execute()
      assert.deepEqual(
        left.map(({ id }) => id),
        [...Array.from({ length: 100 }, (_, index) => `run_${index + 5}`), 'run_new'],
      )
      await db.deleteFrom('waypost_cronjob_run').execute()
      await db.deleteFrom('waypost_cronjob').execute()
    })

    test('successful attempts are forgotten before their deliveries, as the failed ones are', async () => {
      const { db } = system
      const now = Date.now()
      const rows = [4, 2].map((days) => {
        const at = now - days * dayMs
        const id = makeSortedId('dlv_', at)
        const success = {
          started_at: at,
          latency_ms: 5,
          response_status: 200,
          answer: 'ok',
          headers: '[]',
          hidden: 0 as const,
        }
        const times = { due_at: at, scheduled_at: at, created_at: at, finished_at: at }
        const delivery = {
          id,
          message_id: id,
          subscription_id: 'sub',
          status: 'delivered' as const,
          failures: 0,
          lost: 0,
        }
        return { ...delivery, ...times, ...success }
      })
      await db.insertInto('waypost_delivery').values(rows).execute()
      const settings = { ...defaultSettings, keep: { ...defaultSettings.keep, attempts: 3 * dayMs } }
      assert.deepEqual(await prune({ settings, chunk: 1 }), {})
      const left = await db
        .selectFrom('waypost_delivery')
        .select(['id', 'answer', ...successColumns])
        .orderBy('id')
        .execute()
      const forgotten = Object.fromEntries(successColumns.map((column) => [column, null]))
      const [old, young] = rows.map(({ id, ...row }) => [
        id,
        Object.fromEntries(successColumns.map((one) => [one, row[one]])),
      ])
      assert.deepEqual(
        left.map(({ id, ...row }) => [id, { ...row }]),
        [[old![0], forgotten], young],
      )
      assert.deepEqual(await prune({ settings, chunk: 1 }), {})
      await db.deleteFrom('waypost_delivery').execute()
    })

    test('pending deliveries stay with their message, however old both are', async () => {
      const { db } = system
      for (const [id, status] of [
        ['dlv_00WAITS', 'pending'],
        ['dlv_00OVER', 'dead'],
      ] as const) {
        const message = { id, event: 'noted', data: '1', created_at: 1, fanned_out_at: 1 }
        const delivery = { id, message_id: id, subscription_id: 'sub', status, due_at: 1, failures: 0, lost: 0 }
        await db
          .insertInto('waypost_message')
          .values({ ...message, users: null, fan_cursor: null })
          .execute()
        await db
          .insertInto('waypost_delivery')
          .values({ ...delivery, created_at: 1, scheduled_at: 1, finished_at: status === 'dead' ? 1 : null })
          .execute()
      }
      assert.deepEqual(await prune({ chunk: 1 }), { waypost_delivery: 1, waypost_message: 1 })
      for (const table of ['waypost_message', 'waypost_delivery'] as const) {
        assert.deepEqual(await db.selectFrom(table).select('id').execute(), [{ id: 'dlv_00WAITS' }], table)
        await db.deleteFrom(table).execute()
      }
    })

    test('the messages of thousands of pending deliveries stay, fresh ones and those that were put off', async () => {
      const { db } = system
      const numbers = sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 12000)`
      await sql`insert into waypost_message (id, event, data, created_at, fanned_out_at)
        ${numbers} select 'msg_00' || i, 'noted', '1', 1, 1 from n`.execute(db)
      await sql`insert into waypost_delivery (id, message_id, subscription_id, lane, status, due_at, scheduled_at,
          failures, lost, created_at)
        ${numbers} select 'dlv_00' || i, 'msg_00' || i, 'sub', i % 2, 'pending', case when i % 3 = 0 then 1 else 0 end, 1,
          0, 0, 1 from n where i > 4`.execute(db)
      assert.deepEqual(await prune(), { waypost_message: 4 })
      for (const table of ['waypost_message', 'waypost_delivery'] as const) await db.deleteFrom(table).execute()
    })

    test('messages of pending and running runs stay, and others are deleted', async () => {
      const { db } = system
      await sql`insert into waypost_message (id, event, data, created_at, fanned_out_at)
        values ('msg_001', 'noted', '1', 1, 1), ('msg_002', 'noted', '1', 1, 1), ('msg_003', 'noted', '1', 1, 1),
          ('msg_004', 'noted', '1', 1, 1)`.execute(db)
      await sql`insert into waypost_run
          (id, listener, message_id, exclusive_key, status, worker_id, due_at, scheduled_at, created_at, finished_at)
        values ('run_001', 'one', 'msg_001', null, 'pending', null, 1, 1, 1, null),
          ('run_002', 'one', 'msg_002', 'key', 'pending', null, 1, 1, 1, null),
          ('run_003', 'one', 'msg_003', null, 'running', 'wrk_1', 1, 1, 1, null),
          ('run_004', 'one', 'msg_004', null, 'done', null, 1, 1, 1, 1)`.execute(db)
      assert.deepEqual(await prune(), { waypost_run: 1, waypost_message: 1 })
      for (const table of ['waypost_message', 'waypost_run'] as const) await db.deleteFrom(table).execute()
    })

    test('a message that is not fanned out yet stays, however old it is', async () => {
      const { db } = system
      const message = { id: 'msg', event: 'gone', data: '1', users: null, created_at: 1, fan_cursor: null }
      await db
        .insertInto('waypost_message')
        .values({ ...message, fanned_out_at: null })
        .execute()
      assert.deepEqual(await prune(), {})
      await db.deleteFrom('waypost_message').execute()
    })

    const addChanges = async (amount: number, at: number) => {
      for (let done = 0; done < amount; done += 100) {
        await system.transaction((trx) =>
          recordChanges(
            { ...system, now: () => sql<number>`cast(${at} as bigint)` },
            trx,
            Array.from({ length: Math.min(100, amount - done) }, (_, index) => ({
              kind: 'token' as const,
              subject: `${at} ${done + index}`,
            })),
          ),
        )
      }
    }

    test('of the feed the newest thousand stay, however old they are', async () => {
      const old = Date.now() - 8 * dayMs
      await addChanges(1500, old)
      const feed = await startFeed(system)
      const positions = async () => {
        const rows = await system.db
          .selectFrom('waypost_feed')
          .select('position')
          .where('created_at', '=', old)
          .orderBy('position')
          .execute()
        return rows.map(({ position }) => position)
      }
      const head = feed.position()
      const heard: unknown[] = []
      feed.listen((changes) => heard.push(changes === 'reset' ? 'reset' : changes.length))
      const { waypost_feed: gone = 0 } = await prune()
      assert.ok(gone >= 500)
      assert.deepEqual(
        await positions(),
        Array.from({ length: 1000 }, (_, index) => head - 999 + index),
      )
      await feed.catchUp()
      assert.deepEqual(heard, [], 'who is at the head misses nothing')
      await feed.close()
      await addChanges(1200, old)
      assert.deepEqual(await prune(), { waypost_feed: 1200 })
      assert.equal((await positions())[0], head + 201)
    })

    test('a server that is behind a pruned gap reloads its cache from System', async () => {
      const user = await addUser(system, { name: 'gap', scopes: ['todo'] })
      const { secrets, issuer } = await openIdentity(server.host)
      const keys = await openKeyRing(system, secrets)
      const signer = { system, keys, secrets, issuer, clock: server.clock, settings: () => defaultSettings }
      const grantee = { userId: user.id, clientId: loginClientId, scopes: ['todo'] }
      const token = await issueTokens(openTokenIssuer(signer), grantee, { refresh: false })
      const ask = async () => (await server.send('GET /todo', { headers: bearer(token.accessToken) })).status
      assert.equal(await ask(), 200)
      // The revocation itself is among what is pruned, in the one moment in which the server cannot have read it.
      await system.transaction(async (trx) => {
        await trx.updateTable('waypost_token').set({ revoked_at: 1 }).where('jti', '=', token.jti).execute()
        const changes = Array.from({ length: 3 }, () => ({ kind: 'token' as const, subject: token.jti }))
        await recordChanges(system, trx, changes)
        await trx.deleteFrom('waypost_feed').execute()
      })
      await server.server.feed.catchUp()
      assert.equal(await ask(), 401)
    })

    test('a retired key is deleted when its last token has expired', async () => {
      const [signing] = await system.db.selectFrom('waypost_key').selectAll().execute()
      const retired = { ...signing!, id: 'key_OLD', retired_at: Date.now() - 10 * 60_000, created_at: 1 }
      await system.db.insertInto('waypost_key').values(retired).execute()
      await addRow('waypost_token', { id: 'last', column: 'expires_at', at: Date.now() + 60_000 })
      await system.db.updateTable('waypost_token').set({ created_at: 2 }).where('jti', '=', 'last').execute()
      assert.deepEqual(await prune(), {})
      await system.db.deleteFrom('waypost_token').where('jti', '=', 'last').execute()
      assert.deepEqual(await prune(), { waypost_key: 1 })
      assert.equal(await count('waypost_key'), 1)
    })

    test('releases that ended long ago are deleted with their artifacts, except for the newest', async () => {
      const ids: string[] = []
      for (let index = 0; index < 12; index++) {
        const { id } = await activateRelease(system, makeRelease(`release ${index}`, `code ${index}`), { by: 'ann' })
        ids.push(id)
      }
      assert.deepEqual(await prune(), {})
      const activations = system.db.updateTable('waypost_activation')
      await activations.set((column) => ({ activated_at: column('activated_at', '-', 91 * dayMs) })).execute()
      assert.deepEqual(await prune(), { waypost_release: 2, waypost_artifact: 2 })
      const left = await system.db.selectFrom('waypost_release').select('id').execute()
      assert.deepEqual(new Set(left.map(({ id }) => id)), new Set(ids.slice(2)))
      for (const table of ['waypost_release', 'waypost_artifact'] as const) await system.db.deleteFrom(table).execute()
      await system.db.deleteFrom('waypost_activation').execute()
      await system.db.updateTable('waypost_active').set({ release_id: null }).execute()
    })

    test('it runs in chunks, and concurrent runs delete each row once', async () => {
      for (let index = 0; index < 25; index++) {
        await addRow('waypost_code', { id: `code ${index}`, column: 'expires_at', at: 1 })
      }
      const pruned = await Promise.all(Array.from({ length: 3 }, () => prune({ chunk: 4 })))
      assert.equal(
        pruned.reduce((sum, { waypost_code: rows = 0 }) => sum + rows, 0),
        25,
      )
      assert.equal(await count('waypost_code'), 0)
    })

    test('an abort leaves the rest', async () => {
      for (const id of ['1', '2']) await addRow('waypost_code', { id, column: 'expires_at', at: 1 })
      assert.deepEqual(await prune({ signal: AbortSignal.abort() }), {})
      assert.equal(await count('waypost_code'), 2)
    })

    test('once an hour, by the first process that checks, including event:execute', async () => {
      const forget = () => system.db.deleteFrom('waypost_system').where('name', '=', 'last_prune').execute()
      await forget()
      const add = () => addRow('waypost_code', { id: `${Math.random()}`, column: 'expires_at', at: 1 })
      await add()
      await executeHostEvents(server.host)
      assert.equal(await count('waypost_code'), 0)
      await add()
      await executeHostEvents(server.host)
      assert.equal(await count('waypost_code'), 1, 'not again within the hour')
      server.clock.forward(3_600_000)
      const errors: unknown[] = []
      const told: unknown[] = []
      const pruners = Array.from({ length: 4 }, () =>
        openPruner(server.host, {
          settings: () => defaultSettings,
          onPruned: (pruned) => told.push(pruned),
          onError: (error) => errors.push(error),
        }),
      )
      for (const pruner of pruners) pruner.runIfDue()
      await Promise.all(pruners.map((pruner) => pruner.close()))
      assert.deepEqual([told.length, errors], [1, []])
      assert.equal(await count('waypost_code'), 0)
    })
  })
}
