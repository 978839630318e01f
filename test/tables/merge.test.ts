import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import type { TablesSnapshot } from '../../src/contract/index.ts'
import { parseMigration } from '../../src/definition/index.ts'
import { applySteps, parseSnapshot, writeSnapshot } from '../../src/tables/index.ts'

function write(migrations: Readonly<Record<string, string>>): string {
  let tables: TablesSnapshot = { tables: {} }
  for (const text of Object.values(migrations)) tables = applySteps(tables, parseMigration('a.yml', text).steps).tables
  return writeSnapshot({
    migrations: Object.fromEntries(Object.keys(migrations).map((name) => [name, 'c'])),
    ...tables,
  })
}

test('only the list of migrations conflicts when two branches change different columns', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-merge-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const first = { '1-first': 'create_table: { a: { columns: { id: id, m: text, z: text } } }' }
  const texts = {
    ours: write({ ...first, '2-ours': 'add_column: { a: { b: { type: text, null: true } } }' }),
    base: write(first),
    theirs: write({ ...first, '2-theirs': 'add_column: { a: { y: { type: text, null: true } } }' }),
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(path.join(folder, name), text)
  const { status, stdout } = spawnSync('git', ['merge-file', '-p', 'ours', 'base', 'theirs'], { cwd: folder })
  const merged = String(stdout)
  assert.equal(status, 1, 'the number of conflicts')
  assert.deepEqual(parseSnapshot(merged), { problem: 'it contains conflict markers', line: 4 })
  const both = write({
    ...first,
    '2-ours': 'add_column: { a: { b: { type: text, null: true }, y: { type: text, null: true } } }',
  })
  const tablesOf = (text: string) => text.slice(text.indexOf('"tables"'))
  assert.equal(tablesOf(merged), tablesOf(both))
})
