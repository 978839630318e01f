import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.join(import.meta.dirname, '../..')
const manifest: Package = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

interface Package {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

test('every file that the package exports is there after a build', () => {
  const targets = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  )
  assert.deepEqual(
    targets.filter((target) => !existsSync(path.join(root, target))),
    [],
  )
})

test('the lock file names no download address', () => {
  for (const file of [
    'package-lock.json',
    'bench/peers/package-lock.json',
    'test/clients/frameworks/package-lock.json',
  ])
    assert.doesNotMatch(readFileSync(path.join(root, file), 'utf8'), /"resolved": "https?:/, file)
})

test('styles of the login pages are part of the bundles', () => {
  const cwd = path.join(root, 'dist')
  const bundles = globSync('**/*.js', { cwd }).map((file) => readFileSync(path.join(cwd, file), 'utf8'))
  assert.ok(bundles.some((bundle) => bundle.includes('--on-strong:')))
})
