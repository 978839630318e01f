import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { formatAnnotations, type Diagnostic } from '../../src/kit/index.ts'

const problem: Diagnostic = {
  code: 'WP_ROOM_WHAT',
  severity: 'error',
  message: 'There is no "b"',
  file: 'a.yml',
  range: { start: { line: 3, column: 4 }, end: { line: 3, column: 9 } },
}
const format = (changes: Partial<Diagnostic>, folder = '') => formatAnnotations([{ ...problem, ...changes }], folder)

suite('annotations of GitHub Actions', () => {
  test('name the file from the repository, the mark, and the code as the title', () => {
    assert.deepEqual(format({}, 'apps/shop'), [
      '::error file=apps/shop/a.yml,line=3,endLine=3,col=4,endColumn=8,title=WP_ROOM_WHAT::There is no "b"',
    ])
  })

  test('a warning is a warning, and an empty range is one character wide', () => {
    const range = { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } }
    assert.deepEqual(format({ severity: 'warning', range }), [
      '::warning file=a.yml,line=1,endLine=1,col=1,endColumn=1,title=WP_ROOM_WHAT::There is no "b"',
    ])
  })

  test('a range over several lines has no last column', () => {
    const range = { start: { line: 1, column: 5 }, end: { line: 4, column: 2 } }
    assert.match(format({ range })[0]!, /line=1,endLine=4,col=5,title=/)
  })

  test('hint and including files are lines of the message; no text or name ends the command', () => {
    const includedAt = [{ file: 'b.yml', line: 1, column: 2 }]
    const changes = { file: 'a,b:c%.yml', message: '100%\r\n::error::x', hint: 'Write a', includedAt }
    assert.deepEqual(format(changes), [
      '::error file=a%2Cb%3Ac%25.yml,line=3,endLine=3,col=4,endColumn=8,title=WP_ROOM_WHAT::' +
        '100%25%0D%0A::error::x%0AWrite a%0Aincluded at b.yml:1:2',
    ])
  })
})
