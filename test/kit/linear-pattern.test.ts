import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fc } from '../support/property.ts'
import { compilePattern } from '../../src/kit/index.ts'

describe('a pattern of a schema', () => {
  const patterns = [
    '^[a-z]+$',
    '^\\d{3}-[A-Z]{2}$',
    '^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$',
    '^\\p{L}+$',
    '\\bfoo\\b',
    '^.$',
    '^\\u{1F600}$',
    '^(?<year>\\d{4})$',
    '^(?:ab|cd)*?x?$',
    '^[^\\s]+$',
  ]
  for (const pattern of patterns) {
    test(`${pattern} has the same meaning as in JavaScript`, () => {
      const [linear, native] = [compilePattern(pattern), new RegExp(pattern, 'u')]
      const fixed = ['', 'abc', '123-AB', 'a@b.de', 'Ää', 'foo bar', '😀', '2026', 'abcdx', 'a b', '\n', 'é']
      for (const text of fixed) assert.equal(linear.test(text), native.test(text), JSON.stringify(text))
      fc.assert(
        fc.property(
          fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', '.', ' ', '@', '_', 'é', 'A') }),
          (text) => linear.test(text) === native.test(text),
        ),
        { numRuns: 200 },
      )
    })
  }

  test('takes time in proportion to the text where a backtracking engine takes exponential time', () => {
    const evil = compilePattern('^(a+)+$')
    assert.equal(evil.test(`${'a'.repeat(100_000)}!`), false)
  })

  for (const pattern of ['(a)\\1', '(?=a)b', '(?<!a)b', 'a{2000}', '[', '(']) {
    test(`${pattern} is rejected with the reason`, () => {
      assert.throws(() => compilePattern(pattern), { name: 'SyntaxError', message: /\S/ })
    })
  }
})
