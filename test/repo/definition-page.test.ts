import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeDefinitionPage } from '../../bin/write-definition.ts'

const root = path.join(import.meta.dirname, '../..')

test('docs/definition.md says what validate checks, with an example for each key', () => {
  assert.equal(readFileSync(path.join(root, 'docs/definition.md'), 'utf8'), makeDefinitionPage())
})
