import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { formats } from '../../src/definition/schema-language.ts'
import { loadFiles, showProblem } from '../definition/project.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../docs/schemas.md'), 'utf8')

describe('docs/schemas.md', () => {
  for (const [, example = ''] of page.matchAll(/```yaml\n(.*?)```/gs)) {
    test(`has a valid example: ${example.split('\n')[1]}`, async () => {
      const { diagnostics } = await loadFiles({ 'waypost.yml': example })
      assert.deepEqual(diagnostics.map(showProblem), [])
    })
  }

  test('describes all formats', () => {
    const [, section = ''] = page.split('## Formats')
    const rows = [...section.split('\n## ')[0]!.matchAll(/^\| (`.+?) \|/gm)].map(([, names = '']) => names)
    const described = rows.flatMap((names) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
    assert.deepEqual(new Set(described), new Set(formats))
    assert.equal(described.length, new Set(described).size)
  })
})
