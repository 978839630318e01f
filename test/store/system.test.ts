import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { systemConnection } from '../../src/host/system-connection.ts'
import {
  assertSystemMigrated,
  isUnreachable,
  migrateSystem,
  openSystem,
  pendingSystemMigrations,
  startFeed,
  systemMigrations,
  type System,
} from '../../src/store/index.ts'
import { makeReadiness } from '../../src/server/readiness.ts'
import { openOrm } from '../../src/store/orm.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`System on ${kind}`, () => {
    let system: System
    const closers: (() => Promise<unknown>)[] = []
    let url: string
    before(async () => {
      url = kind === 'sqlite' ? await temporaryFile() : await freshDatabase()
      system = await openSystem({ url, create: true })
      closers.push(() => system.close())
    })
    after(async () => {
      for (const close of closers.toReversed()) await close()
    })

    async function temporaryFile(): Promise<string> {
      const folder = await mkdtemp(path.join(tmpdir(), 'waypost-system-'))
      closers.push(() => rm(folder, { recursive: true }))
      return `sqlite:${folder}/system.db`
    }

    async function freshDatabase(): Promise<string> {
      const postgres = await startPostgres()
      closers.push(() => postgres.stop())
      return postgres.createDatabase()
    }

    test('cannot be used before its migration, and names the command', async () => {
      await assert.rejects(assertSystemMigrated(system), { code: 'WP_STORE_NOT_MIGRATED', hint: /waypost migrate/ })
    })

    test('is migrated once, and stays usable', async () => {
      const told: string[] = []
      assert.deepEqual(await migrateSystem(system, { onApplied: (name) => told.push(name) }), systemMigrations)
      assert.deepEqual(told, systemMigrations)
      assert.deepEqual(await migrateSystem(system), [])
      assert.deepEqual(await pendingSystemMigrations(system), [])
      await assertSystemMigrated(system)
      const clients = await system.db.selectFrom('waypost_client').select(['id', 'name']).orderBy('id').execute()
      assert.deepEqual(clients, [
        { id: '00000000-0000-4000-8000-000000000001', name: 'login' },
        { id: '00000000-0000-4000-8000-000000000002', name: 'API reference' },
        { id: '00000000-0000-4000-8000-000000000003', name: 'Backend' },
        { id: '00000000-0000-4000-8000-000000000004', name: 'Portal' },
      ])
    })

    test('has exactly the tables that the entities describe', async () => {
      const orm = await openOrm(system, 'waypost_schema')
      try {
        const difference = await orm.schema.getUpdateSchemaSQL({ wrap: false })
        assert.equal(
          difference
            .trim()
            .replace(/drop table[^;]*waypost_schema[^;]*;/i, '')
            .trim(),
          '',
        )
      } finally {
        await orm.close()
      }
    })

    test('returns the time of the database in milliseconds', async () => {
      const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
      assert.ok(Math.abs(now - Date.now()) < 600_000, `${now} is not near ${Date.now()}`)
    })

    test('rolls a transaction back when its work throws', async () => {
      const work = system.transaction(async (trx) => {
        await trx.insertInto('waypost_system').values({ name: 'planted', value: '1' }).execute()
        throw new Error('planted')
      })
      await assert.rejects(work, /planted/)
      assert.deepEqual(await system.db.selectFrom('waypost_system').selectAll().execute(), [])
    })

    if (kind === 'postgresql') {
      test('does not wait for a stalled transaction of the same process, however long it holds its locks', async () => {
        await system.db.insertInto('waypost_system').values({ name: 'locked', value: '1' }).execute()
        const isLocked = Promise.withResolvers<void>()
        const isChanged = Promise.withResolvers<void>()
        const frozen = system.transaction(async (trx) => {
          await trx.updateTable('waypost_system').set({ value: '2' }).where('name', '=', 'locked').execute()
          isLocked.resolve()
          await isChanged.promise
          await trx.updateTable('waypost_system').set({ value: '3' }).where('name', '=', 'locked').execute()
        })
        await Promise.race([isLocked.promise, frozen])
        await system.db.updateTable('waypost_system').set({ value: '4' }).where('name', '=', 'locked').execute()
        await new Promise(setImmediate) // reads the error, which was sent before the lock was released
        isChanged.resolve()
        await assert.rejects(frozen, { code: 'WP_STORE_IDLE', kind: 'external', status: 503 })
        const rows = await system.db
          .deleteFrom('waypost_system')
          .where('name', '=', 'locked')
          .returning('value')
          .execute()
        assert.deepEqual(rows, [{ value: '4' }])
      })

      test('lets transactions of actions wait without a limit', async () => {
        const limitIn = async (db: System['db']) =>
          (
            await sql<{
              limit: string
            }>`select current_setting('idle_in_transaction_session_timeout') as limit`.execute(db)
          ).rows[0]!.limit
        assert.equal(await system.transaction(limitIn), '5s')
        assert.notEqual(await systemConnection(system).transaction!((trx) => limitIn(trx as System['db'])), '5s')
        assert.notEqual(await limitIn(system.db), '5s')
      })

      test('is not ready while it only reads, as after a switchover, and works again afterwards', async () => {
        const name = new URL(url).pathname.slice(1)
        const admin = new Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href })
        await admin.connect()
        const setReadOnly = async (change: string) => {
          await admin.query(`alter database ${name} ${change}`)
          await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
        }
        const feed = await startFeed(system)
        await setReadOnly('set default_transaction_read_only = on')
        const isReadOnly = { code: 'WP_STORE_READ_ONLY', status: 503, retryAfterSeconds: 1 }
        const codeOf = (work: Promise<unknown>) =>
          work.then(
            () => undefined,
            (error: { code?: string }) => error.code,
          )
        await until('checks see it', async () => (await codeOf(system.check())) === 'WP_STORE_READ_ONLY')
        await assert.rejects(system.check(), isReadOnly)
        await assert.rejects(openSystem({ url }), (error) => isUnreachable(error))
        await until('the feed sees it', async () => (await codeOf(feed.catchUp())) === 'WP_STORE_READ_ONLY')
        assert.equal(feed.isFresh(), false)
        assert.equal(await makeReadiness(system, feed).check(), 'System does not accept changes')
        await setReadOnly('reset default_transaction_read_only')
        const write = () =>
          system.transaction((trx) => trx.updateTable('waypost_user').set({ name: 'x' }).where('id', '=', '').execute())
        for (const work of [write, system.check, () => feed.catchUp()])
          await until('it works again', async () => (await codeOf(work())) === undefined)
        assert.equal(await makeReadiness(system, feed).check(), undefined)
        await feed.close()
        await admin.end()
      })

      test('replaces all connections to the former primary, whichever of them is found first', async () => {
        const own = await openSystem({ url })
        const turn = () => sql`set default_transaction_read_only = on`
        await turn().execute(own.guardDb)
        await turn().execute(own.db)
        await assert.rejects(own.check(), { code: 'WP_STORE_READ_ONLY' })
        await own.check()
        await own.db.deleteFrom('waypost_system').where('name', '=', '').execute()
        await own.close()
      })
    }

    test('a System that a newer Waypost migrated is rejected with its name', async () => {
      await system.db
        .insertInto('waypost_schema' as never)
        .values({ name: '9999-from-the-future' })
        .execute()
      await assert.rejects(assertSystemMigrated(system), { code: 'WP_STORE_NEWER', message: /9999-from-the-future/ })
    })
  })
}
