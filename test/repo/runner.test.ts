import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'

const root = path.join(import.meta.dirname, '../..')

/** Runs the suite's own runner on some files, as `npm test -- FILE` does. */
function run(...files: readonly string[]): number | null {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env // a runner inside a runner would only report to it
  return spawnSync(process.execPath, ['bin/test.ts', ...files], { cwd: root, env }).status
}

test('npm test fails when a test fails, and when it finds no tests', () => {
  assert.equal(run('test/fixtures/runner/fails.ts'), 1)
  assert.equal(run('test/fixtures/runner/fails.ts', 'test/fixtures/runner/passes.ts'), 1)
  assert.equal(run('test/no-such-folder'), 1)
})

test('npm test fails when one of many files fails or cannot be loaded, although they share processes', () => {
  const pass = ['duration', 'since', 'address', 'references'].map((name) => `test/kit/${name}.test.ts`)
  assert.equal(run('test/fixtures/runner/fails.ts', ...pass), 1)
  assert.equal(run('test/fixtures/runner/throws.ts', ...pass), 1)
  assert.equal(run('test/fixtures/runner/passes.ts', ...pass), 0)
})

test('npm test passes when every test passes', () => {
  assert.equal(run('test/fixtures/runner/passes.ts'), 0)
})
