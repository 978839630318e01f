import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrintedProblems, PrintedTypeErrors } from '../../bin/cli/printed-problems.ts'
import type { Diagnostic } from '../../src/kit/index.ts'

const problem = (severity: Diagnostic['severity'], line: number): Diagnostic => ({
  code: 'WP_DEFINITION_KEY',
  severity,
  message: 'There is no key "rotes"',
  file: 'waypost.yml',
  range: { start: { line, column: 5 }, end: { line, column: 9 } },
})
const [error, other] = [problem('error', 3), problem('error', 9)]
const [warning, second] = [problem('warning', 4), problem('warning', 5)]

test('errors that stay are printed once, then named in a line', () => {
  const printed = new PrintedProblems()
  const first = { diagnostics: [warning, error] }
  assert.deepEqual(printed.update(first, false), {
    fresh: [warning, error],
    unchangedErrors: undefined,
    unchangedWarnings: undefined,
  })
  assert.deepEqual(printed.update(first, false), {
    fresh: [],
    unchangedErrors: 'still 1 error: waypost.yml:3:5  There is no key "rotes"',
    unchangedWarnings: '1 warning as before',
  })
  assert.deepEqual(printed.update({ diagnostics: [warning, error, other] }, false).fresh, [error, other])
  assert.match(
    printed.update({ diagnostics: [error, other] }, false).unchangedErrors!,
    /^still 2 errors: waypost\.yml:3:5 {2}There/,
  )
})

test('errors that come back are printed again', () => {
  const printed = new PrintedProblems()
  printed.update({ diagnostics: [error] }, false)
  assert.equal(printed.update({ diagnostics: [] }, false).unchangedErrors, undefined)
  assert.deepEqual(printed.update({ diagnostics: [error] }, false).fresh, [error])
})

test('failures outside of files are listed too', () => {
  const printed = new PrintedProblems()
  const failed = { diagnostics: [], error: new Error('too late\nmore') }
  assert.equal(printed.update(failed, false).unchangedErrors, undefined)
  assert.equal(printed.update(failed, false).unchangedErrors, 'still an error: too late')
  assert.equal(printed.update({ diagnostics: [], error: new Error('elsewhere') }, false).unchangedErrors, undefined)
})

test('a warning is printed once while it persists', () => {
  const printed = new PrintedProblems()
  assert.deepEqual(printed.update({ diagnostics: [warning] }, false).fresh, [warning])
  assert.deepEqual(printed.update({ diagnostics: [warning, second] }, false), {
    fresh: [second],
    unchangedErrors: undefined,
    unchangedWarnings: '1 warning as before',
  })
  assert.equal(printed.update({ diagnostics: [warning, second] }, false).unchangedWarnings, '2 warnings as before')
  printed.update({ diagnostics: [] }, false)
  assert.deepEqual(printed.update({ diagnostics: [warning] }, false).fresh, [warning])
})

test('a request for all problems prints all', () => {
  const printed = new PrintedProblems()
  printed.update({ diagnostics: [warning, error] }, false)
  const all = printed.update({ diagnostics: [warning, error] }, true)
  assert.deepEqual(all, { fresh: [warning, error], unchangedErrors: undefined, unchangedWarnings: undefined })
})

test('a type error is printed once, also if it moves to another line, and its end is reported', () => {
  const types = new PrintedTypeErrors()
  const at = (line: number, message = 'wrong') => ({
    code: 'TS1',
    severity: 'warning' as const,
    message,
    file: 'a.ts',
    range: { start: { line, column: 1 }, end: { line, column: 2 } },
  })
  const update = (...found: ReturnType<typeof at>[]) => {
    const { fresh, ...rest } = types.update(found)
    return { fresh: fresh.length, ...rest }
  }
  assert.deepEqual(update(), { fresh: 0, total: 0, isFixed: false })
  assert.deepEqual(update(at(1)), { fresh: 1, total: 1, isFixed: false })
  assert.deepEqual(update(at(2)), { fresh: 0, total: 1, isFixed: false })
  assert.deepEqual(update(at(2), at(3, 'other')), { fresh: 1, total: 2, isFixed: false })
  assert.deepEqual(update(), { fresh: 0, total: 0, isFixed: true })
})
