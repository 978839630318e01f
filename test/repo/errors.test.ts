import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { loadErrorTables, makeErrorsPage } from '../../bin/write-errors.ts'

const root = path.join(import.meta.dirname, '../..')
const tables = await loadErrorTables()
const codes = tables.flatMap(({ rows }) => Object.keys(rows))
const sources = globSync(['bin/**/*.ts', 'commands/**/*.ts', 'src/**/*.ts'], { cwd: root })

test('docs/errors.md matches the tables; npm run write:errors writes it', async () => {
  const written = readFileSync(path.join(root, 'docs/errors.md'), 'utf8').split('\n')
  const wanted = (await makeErrorsPage()).split('\n')
  assert.deepEqual(without(wanted, written), [], 'missing')
  assert.deepEqual(without(written, wanted), [], 'out of date')
  assert.deepEqual(written, wanted)
})

/**
 * Codes are public, so these rooms keep the prefix of what users see: a server. `release` includes the code that loads
 * it.
 */
const prefixes: Readonly<Record<string, readonly string[]>> = {
  host: ['SERVER'],
  jobs: ['SERVER'],
  operate: ['SERVER'],
  release: ['RUNTIME'],
}

test('every code starts with the name of its room or inner room, and is in one table only', () => {
  for (const { file, room, rows } of tables) {
    const names = new Set([...path.dirname(file).toUpperCase().split(path.sep), ...(prefixes[room] ?? [])])
    for (const code of Object.keys(rows)) assert.ok(names.has(code.split('_')[1]!), `${code} in ${file}`)
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
  const isTable = (file: string) => readFileSync(path.join(root, file), 'utf8').includes('= defineErrors({')
  const used = new Set(sources.filter((file) => !isTable(file)).flatMap(codesIn))
  assert.deepEqual(
    codes.filter((code) => !used.has(code)),
    [],
  )
})

function without(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others)
  return lines.filter((line) => !known.has(line))
}

function codesIn(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8')
  return [...text.matchAll(/\bWP_[A-Z]+_[A-Z_]+\b/g)].map(([code]) => code)
}
