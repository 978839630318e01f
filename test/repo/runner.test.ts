import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { isLong, longTest } from '../support/forms.ts'
import { findTestsOf } from '../support/find-changed.ts'
import { shareFiles } from '../support/share-files.ts'
import { makeSnapshot } from '../support/snapshot.ts'

const root = path.join(import.meta.dirname, '../..')

/** Runs the test runner on some files, like `npm test -- FILE`. */
function start(...files: readonly string[]) {
  // A nested runner would only report to the context, and has the short form also in the long form.
  const { NODE_TEST_CONTEXT: _, WAYPOST_TEST_LONG: __, ...env } = process.env
  return spawnSync(process.execPath, ['bin/test.ts', ...files], { cwd: root, env, encoding: 'utf8' })
}

function run(...files: readonly string[]): number | null {
  return start(...files).status
}

test('npm test fails when a test fails, and when it finds no tests', () => {
  assert.equal(run('test/fixtures/runner/fails.ts'), 1)
  if (isLong) assert.equal(run('test/fixtures/runner/fails.ts', 'test/fixtures/runner/passes.ts'), 1) // others, below
  assert.equal(run('test/no-such-folder'), 1)
})

test('npm test fails when one of many files fails or cannot be loaded, although they share processes', () => {
  const pass = ['duration', 'since', 'address', 'references'].map((name) => `test/kit/${name}.test.ts`)
  assert.equal(run('test/fixtures/runner/fails.ts', ...pass), 1)
  assert.equal(run('test/fixtures/runner/throws.ts', ...pass), 1)
  assert.equal(run('test/fixtures/runner/passes.ts', ...pass), 0)
})

test('npm test fails when a test causes an exception that nothing catches, and names it', () => {
  const { status, stdout, stderr } = start('test/fixtures/runner/loses.ts', 'test/kit/duration.test.ts')
  assert.equal(status, 1)
  assert.match(stdout + stderr, /Not caught, in .*loses\.ts > causes an exception that nothing catches\n/)
})

// In CI, the tests of many files pass above.
longTest('npm test passes when every test passes', async () => {
  assert.equal(run('test/fixtures/runner/passes.ts'), 0)
})

test('npm test -- --changed runs the tests of the rooms and helpers that differ from main, and no others', () => {
  const tests = globSync('test/**/*.test.ts', { cwd: root })
  const runs =
    (...changed: readonly string[]) =>
    (test: string) =>
      findTestsOf(changed, tests).includes(test)
  const ofMember = runs('src/events/lanes/member.ts')
  assert.deepEqual(['test/events/lanes.test.ts', 'test/faults/events-killed.test.ts'].map(ofMember), [true, true])
  assert.equal(ofMember('test/kit/duration.test.ts'), false)
  assert.equal(runs('test/faults/mortal-worker.ts')('test/faults/events-killed.test.ts'), true)
  assert.equal(runs('commands/user/list.ts')('test/e2e/administration.test.ts'), true)
  assert.deepEqual(findTestsOf(['test/kit/duration.test.ts'], tests), ['test/kit/duration.test.ts'])
  assert.deepEqual(findTestsOf(['.gitignore'], tests), [])
})

test('a file of the long form runs if it is named; otherwise it is listed, with files that hold its promises', () => {
  const listed = start('test/events/many*.test.ts')
  assert.equal(listed.status, 0)
  assert.match(listed.stdout, /^Long form, not run .*\n {2}test\/events\/many\.test\.ts: test\/events\/flow\.test\.ts /)
  const longForm = JSON.parse(readFileSync(path.join(root, 'test/long-form.json'), 'utf8')) as Record<string, string>
  for (const [file, others] of Object.entries(longForm)) {
    assert.ok(existsSync(path.join(root, file)), file)
    const named = others.match(/test\/[\w./-]+\.test\.ts/g) ?? []
    assert.ok(named.length > 0, file)
    for (const one of named) {
      assert.ok(existsSync(path.join(root, one)), `${file} names ${one}`)
      assert.ok(!(one in longForm), `${file} names ${one}, which is not in the short form either`)
    }
  }
})

test('processes get files by their measured time: each file once, and no process much more than the others', () => {
  const times = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`${index}.test.ts`, { seconds: index % 40, cpu: index % 7 }]),
  )
  const files = Object.keys(times)
  const shares = shareFiles([...files, 'new.test.ts'], times, 8)
  assert.deepEqual(shares.flat().toSorted(), [...files, 'new.test.ts'].toSorted())
  const sums = shares.map((share) => share.reduce((sum, file) => sum + (times[file]?.seconds ?? 0), 0))
  const [first, last] = [sums.slice(0, 8), sums.slice(8)]
  assert.ok(Math.max(...first) - Math.min(...first) < 40, sums.join(', '))
  assert.ok(last.length > 0 && Math.max(...last) < Math.min(...first) / 4, 'the last processes are short')
  assert.equal(shareFiles(['1.test.ts', '2.test.ts'], times, 8).length, 1)
  assert.equal(shareFiles(['39.test.ts', '38.test.ts'], times, 8).length, 2)
})

test('what tests start is a copy that a build beside them does not replace, under the same name in each run', () => {
  const checkout = mkdtempSync(path.join(tmpdir(), 'waypost-checkout-'))
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true })
    writeFileSync(path.join(checkout, file), text)
  }
  try {
    write('dist/chunks/one.js', 'old')
    write('docs/page.md', 'a page')
    const snapshot = makeSnapshot(checkout)
    renameSync(path.join(checkout, 'dist'), path.join(checkout, 'dist.1.old'))
    write('dist/chunks/two.js', 'new')
    assert.equal(readFileSync(path.join(snapshot, 'dist/chunks/one.js'), 'utf8'), 'old')
    assert.equal(readFileSync(path.join(snapshot, 'docs/page.md'), 'utf8'), 'a page')
    const beside = makeSnapshot(checkout)
    assert.notEqual(beside, snapshot)
    assert.equal(existsSync(path.join(beside, 'dist/chunks/one.js')), false)
    writeFileSync(path.join(snapshot, '.owner'), '4194305') // more than any process has: its run was killed
    assert.equal(makeSnapshot(checkout), snapshot)
  } finally {
    rmSync(checkout, { recursive: true })
  }
})
