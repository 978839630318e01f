import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { systemConnection } from '../../src/host/system-connection.ts'
import {
  assertSystemMigrated,
  migrateSystem,
  openSystem,
  pendingSystemMigrations,
  systemMigrations,
  type System,
} from '../../src/store/index.ts'
import { openOrm } from '../../src/store/orm.ts'
import { startPostgres } from '../support/postgres.ts'

for (const kind of ['sqlite', 'postgresql'] as const) {
  describe(`System on ${kind}`, () => {
    let system: System
    const closers: (() => Promise<unknown>)[] = []
    before(async () => {
      const url = kind === 'sqlite' ? await temporaryFile() : await freshDatabase()
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
      assert.deepEqual(await migrateSystem(system, (name) => told.push(name)), systemMigrations)
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
        assert.equal(await systemConnection(system).transaction!((trx) => limitIn(trx as System['db'])), '0')
        assert.equal(await limitIn(system.db), '0')
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
