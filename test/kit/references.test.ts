import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseReferences, resolveReferences } from '../../src/kit/index.ts'

suite('references to variables', () => {
  test('are found with their defaults, several in one text', () => {
    const { references, broken } = parseReferences('a ${env.HOST}:${env.PORT:-5432}/${env.NAME:-}')
    assert.deepEqual(references, [
      { name: 'HOST', fallback: undefined, start: 2, end: 13 },
      { name: 'PORT', fallback: '5432', start: 14, end: 31 },
      { name: 'NAME', fallback: '', start: 32, end: 45 },
    ])
    assert.deepEqual(broken, [])
  })

  for (const text of ['${env.}', '${env.a-b}', '${env.1A}', '${env.A', '${env.A:default}', '${env.A:-${env.B}}']) {
    test(`${text} is not a reference`, () => {
      const { references, broken } = parseReferences(text)
      assert.deepEqual([references.length, broken[0]?.start], [0, 0])
    })
  }

  test('are resolved at any depth; empty variables use their default', () => {
    const value = {
      url: '${env.A}/${env.B:-b}',
      list: ['${env.B:-b}', 7, null, true],
      deep: { __proto__x: '${env.A}' },
    }
    assert.deepEqual(resolveReferences(value, { A: 'a', B: '' }), {
      value: { url: 'a/b', list: ['b', 7, null, true], deep: { __proto__x: 'a' } },
      missing: [],
    })
  })

  test('without a value stay as they are, and each name is listed once', () => {
    const resolved = resolveReferences(['${env.A}${env.A}', '${env.B}'], { B: '' })
    assert.deepEqual(resolved, { value: ['${env.A}${env.A}', '${env.B}'], missing: ['A', 'B'] })
  })

  test('a variable with the name of a method of objects has no value unless it is set', () => {
    assert.deepEqual(resolveReferences('${env.constructor}', {}).missing, ['constructor'])
  })

  test('a value that looks like a reference is not resolved again', () => {
    assert.equal(resolveReferences('${env.A}', { A: '${env.B}', B: 'b' }).value, '${env.B}')
  })
})
