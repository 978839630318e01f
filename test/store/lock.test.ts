import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { makeLock } from '../../src/store/sql/lock.ts'
import { openPostgres } from '../../src/store/sql/postgres-dialect.ts'
import { isLong, longTest } from '../support/forms.ts'
import { abortTimeoutMs } from '../support/until.ts'
import { describeEachDatabase } from './each-database.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'waypost-lock-'))
after(() => rmSync(folder, { recursive: true }))

function startHolder(address: string, task: string) {
  const program = path.join(import.meta.dirname, 'lock-holder.ts')
  const child = spawn(process.execPath, [program, address, task], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const done = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
  return { child, done, held: once(child.stdout, 'data') }
}

/** Processes that meet. */
const processes = isLong ? [1, 2, 3] : [1, 2]

describeEachDatabase('the lock', ({ kind, open }) => {
  test('is held by one process at a time', async () => {
    const { address, db } = await open()
    await db.introspection.getTables()
    const file = path.join(folder, kind)
    const results = await Promise.all(processes.map(() => startHolder(address, file).done))
    assert.deepEqual(
      results.map(({ code }) => code),
      processes.map(() => 0),
    )
    assert.equal(readFileSync(file, 'utf8'), 'in\nout\n'.repeat(processes.length))
  })

  // In CI on PostgreSQL: the test above has the same lock, whose holders write, on SQLite too.
  const declare = kind === 'postgresql' ? test : longTest
  declare('applies a migration once when several processes migrate concurrently', async () => {
    const { address, db } = await open()
    await db.introspection.getTables()
    const results = await Promise.all(processes.map(() => startHolder(address, 'migrate').done))
    assert.deepEqual(
      results.map(({ code }) => code),
      processes.map(() => 0),
    )
    const counts = results.map(({ output }) => Number(output))
    assert.deepEqual(
      counts.toSorted((a, b) => a - b),
      processes.map((_, index) => Number(index === processes.length - 1)),
    )
  })

  test('ends with the process that held it', async () => {
    const { address, database } = await open()
    const holder = startHolder(address, path.join(folder, `${kind}-killed`))
    await holder.held
    holder.child.kill('SIGKILL')
    await makeLock(database)('test', async () => {}, { limitMs: abortTimeoutMs })
    await holder.done
  })

  test('times out after the limit and reports the wait', async () => {
    const { database } = await open()
    const withLock = makeLock(database)
    let waits = 0
    await withLock('test', async () => {
      const second = withLock('test', async () => {}, { limitMs: 100, onWait: () => waits++ })
      await assert.rejects(second, { code: 'WP_STORE_LOCKED', kind: 'external' })
    })
    assert.equal(waits, 1)
  })

  test('leaves other names alone, and is free again after work that failed', async () => {
    const { database } = await open()
    const withLock = makeLock(database)
    assert.equal(await withLock('one', () => withLock('two', async () => 2, { limitMs: abortTimeoutMs })), 2)
    const failed = withLock('one', async () => {
      throw new Error('no')
    })
    await assert.rejects(failed, { message: 'no' })
    assert.equal(await withLock('one', async () => 1, { limitMs: abortTimeoutMs }), 1)
  })

  if (kind !== 'postgresql') return
  test('holds back no index that is built concurrently, and outlasts limits on idle transactions', async () => {
    const { address, database, db } = await open()
    const url = Object.assign(new URL(address), {
      search: `?options=${encodeURIComponent('-c idle_in_transaction_session_timeout=50')}`,
    })
    const impatient = openPostgres({ url: url.href })
    try {
      await sql`create table indexed (a integer)`.execute(db)
      await makeLock(impatient)('test', async () => {
        await sql`create index concurrently indexed_a on indexed (a)`.execute(db)
        await pause(200)
        const second = makeLock(database)('test', async () => {}, { limitMs: 0 })
        await assert.rejects(second, { code: 'WP_STORE_LOCKED' })
      })
    } finally {
      await impatient.close()
    }
  })
})
