// A System with Waypost's own tables is migrated once per run. Tests get copies, which take a tenth of the time.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { copyFile, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sha256 } from '../../src/kit/index.ts'
import { Client } from 'pg'
import { migrateSystem, openSystem, systemMigrations } from '../../src/store/index.ts'

/** The folder for files that the processes of a run share; bin/test.ts creates and removes it. */
const shared = process.env['WAYPOST_TEST_FOLDER'] ?? makeOwnFolder()

/**
 * Creates the file of a migrated System at a SQLite URL relative to a folder. Does nothing for PostgreSQL, whose
 * databases `createSystem` of test/support/postgres.ts creates.
 */
export async function copySystem(url: string, folder: string): Promise<void> {
  if (!url.startsWith('sqlite:')) return
  const template = path.join(shared, 'system.db')
  if (!existsSync(template)) {
    const own = path.join(shared, `${randomUUID()}.db`)
    await migrate(`sqlite:${own}`)
    await rename(own, template) // atomic, because other processes look for it too
  }
  await copyFile(template, path.resolve(folder, url.slice('sqlite:'.length)))
}

/** Returns the name of a migrated database on a server, to be copied and not used. */
export async function findTemplate(adminUrl: string): Promise<string> {
  const name = `waypost_system_${sha256(JSON.stringify(systemMigrations)).slice(0, 16)}`
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(7401)') // only one process creates it
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) {
      const own = `waypost_${randomUUID().replaceAll('-', '')}`
      await client.query(`create database ${own}`)
      await migrate(Object.assign(new URL(adminUrl), { pathname: `/${own}` }).href)
      await client.query(`alter database ${own} rename to ${name}`)
    }
  } finally {
    await client.end()
  }
  return name
}

async function migrate(url: string): Promise<void> {
  const system = await openSystem({ url, create: true, disposable: true })
  try {
    await migrateSystem(system)
  } finally {
    await system.close()
  }
}

function makeOwnFolder(): string {
  const own = mkdtempSync(path.join(tmpdir(), 'waypost-test-'))
  process.once('exit', () => rmSync(own, { recursive: true, force: true }))
  return own
}
