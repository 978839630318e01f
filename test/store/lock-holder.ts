// A process for the tests of locks: `ADDRESS FILE` writes `in` and `out` to FILE around work under the lock; `ADDRESS
// migrate` applies a slow migration.
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import { systemClock } from '../../src/kit/index.ts'
import { applyMigrations } from '../../src/store/migrate/apply-migrations.ts'
import { makeLock } from '../../src/store/sql/lock.ts'
import { openPostgres } from '../../src/store/sql/postgres-dialect.ts'
import { openSqlite } from '../../src/store/sql/sqlite-dialect.ts'

const [address = '', task = ''] = process.argv.slice(2)
const kind = address.startsWith('postgresql:') ? 'postgresql' : 'sqlite'
const database = kind === 'sqlite' ? openSqlite({ file: address }) : openPostgres({ url: address, max: 2 })
const withLock = makeLock(database)

async function migrate(): Promise<void> {
  const migration = {
    name: '1-slow',
    checksum: '1',
    migration: {
      async up(db: Kysely<unknown>) {
        await sql`create table slow (a integer)`.execute(db)
        await delay(100)
      },
    },
  }
  const db = new Kysely<unknown>({ dialect: database.dialect() })
  const { applied } = await applyMigrations({ db, kind, migrations: [migration], withLock, clock: systemClock })
  process.stdout.write(String(applied.length))
}

async function work(): Promise<void> {
  await withLock('test', async () => {
    appendFileSync(task, 'in\n')
    process.stdout.write('held\n')
    await delay(200)
    appendFileSync(task, 'out\n')
  })
}

await (task === 'migrate' ? migrate() : work())
await database.close()
