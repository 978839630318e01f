import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { TablesSnapshot } from '../../src/contract/index.ts'
import { parseMigration } from '../../src/definition/index.ts'
import { applySteps } from '../../src/tables/index.ts'

test('the examples of docs/tables.md are valid migrations, one after another', () => {
  const page = readFileSync(new URL('../../docs/tables.md', import.meta.url), 'utf8')
  const examples = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => text)
  let tables: TablesSnapshot = { tables: {} }
  const used = new Set<string>()
  for (const text of examples) {
    const { steps, diagnostics } = parseMigration('a.yml', text)
    const applied = applySteps(tables, steps)
    assert.deepEqual([diagnostics, applied.problems], [[], []], text)
    tables = applied.tables
    for (const { step } of steps) used.add(step)
  }
  assert.deepEqual(Object.keys(tables.tables), ['app_customer', 'app_ticket'])
  assert.equal(used.size, 10)
})
