import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { loadErrorTables, makeErrorsPage } from '../../bin/write-errors.ts'

const root = path.join(import.meta.dirname, '../..')
const tables = await loadErrorTables()
const codes = tables.flatMap(({ rows }) => Object.keys(rows))
const sources = globSync(['bin/**/*.ts', 'commands/**/*.ts', 'src/**/*.ts'], { cwd: root })

test('docs/errors.md says what the tables say', async () => {
  const page = readFileSync(path.join(root, 'docs/errors.md'), 'utf8')
  assert.equal(page, await makeErrorsPage(), 'npm run write:errors')
})

test('every code belongs to its room and stands in one table', () => {
  for (const { room, rows } of tables) {
    for (const code of Object.keys(rows)) assert.ok(code.startsWith(`WP_${room.toUpperCase()}_`), `${code} in ${room}`)
  }
  assert.equal(new Set(codes).size, codes.length)
})

test('every code that the sources name has a row', () => {
  const known = new Set(codes)
  const unknown = sources.flatMap((file) =>
    codesIn(file)
      .filter((code) => !known.has(code))
      .map((code) => `${file}: ${code}`),
  )
  assert.deepEqual(unknown, [])
})

test('every row is used outside of its table', () => {
  const used = new Set(sources.filter((file) => path.basename(file) !== 'errors.ts').flatMap(codesIn))
  assert.deepEqual(
    codes.filter((code) => !used.has(code)),
    [],
  )
})

function codesIn(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8')
  return [...text.matchAll(/\bWP_[A-Z]+_[A-Z_]+\b/g)].map(([code]) => code)
}
