import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { openSqlite } from '../../src/store/sql/sqlite-dialect.ts'

test('while another process holds the write lock for 2 s, reads stay quick, and a write succeeds afterwards', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-sqlite-'))
  const file = path.join(folder, 'x.db')
  const database = openSqlite({ file, create: true })
  const db = new Kysely<{ counter: { value: number } }>({ dialect: database.dialect() })
  const count = () => db.selectFrom('counter').selectAll().execute()
  try {
    await db.schema.createTable('counter').addColumn('value', 'integer').execute()
    const program = path.join(import.meta.dirname, 'sqlite-writer.ts')
    const holder = spawn(process.execPath, [program, file, 'hold', '2000'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = once(holder, 'exit')
    await once(holder.stdout, 'data')
    const startMs = performance.now()
    const write = db.insertInto('counter').values({ value: 1 }).execute()
    const wroteAfterMs = write.then(() => performance.now() - startMs)

    const times: number[] = []
    while (performance.now() - startMs < 1800) {
      const start = performance.now()
      assert.deepEqual(await count(), [])
      times.push(performance.now() - start)
      await delay(1)
    }
    const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
    assert.ok(times.length > 300, `only ${times.length} reads`)
    assert.ok(p99 < 20, `p99 was ${p99} ms`)
    const waitedMs = await wroteAfterMs
    assert.ok(waitedMs > 1500 && waitedMs < 2500, `the write took ${waitedMs} ms`)
    assert.equal((await count()).length, 1)
    await exit
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
