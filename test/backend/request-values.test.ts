import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  firstValues,
  followExample,
  keepTyped,
  writePath,
  type CalledMethod,
} from '../../src/backend/ui/try/request-values.ts'

const json = (value: unknown) => JSON.stringify(value, null, 2)

const cases: readonly (readonly [what: string, typed: string, before: unknown, after: unknown, expected: string])[] = [
  ['text that was not touched', json({ a: 1 }), { a: 1 }, { b: 2 }, json({ b: 2 })],
  ['the same example', '{"a":  7}', { a: 1 }, { a: 1 }, '{"a":  7}'],
  ['a new field', '{"a": 7}', { a: 1 }, { a: 1, b: 2 }, json({ a: 7, b: 2 })],
  ['a removed field', '{"a": 7, "b": 8}', { a: 1, b: 2 }, { a: 1 }, json({ a: 7 })],
  ['a field that the person removed', '{"a": 7}', { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, json({ a: 7, c: 3 })],
  ['a field that the person added', '{"a": 1, "x": 9}', { a: 1 }, { a: 3, b: 2 }, json({ a: 3, x: 9, b: 2 })],
  [
    'inner fields',
    '{"o": {"a": 7, "b": 2}}',
    { o: { a: 1, b: 2 } },
    { o: { a: 1, c: 3 } },
    json({ o: { a: 7, c: 3 } }),
  ],
  ['a field of another type', '{"o": "text"}', { o: 'x' }, { o: { a: 1 } }, json({ o: 'text' })],
  [
    'names of Object.prototype',
    '{"__proto__": 7}',
    {},
    { a: 1, toString: 2 },
    '{\n  "__proto__": 7,\n  "a": 1,\n  "toString": 2\n}',
  ],
  ['text that is not JSON', '{"a": ', { a: 1 }, { b: 2 }, '{"a": '],
  ['a body that is no object', '[7]', [1], { b: 2 }, '[7]'],
  [
    'numbers as they were written',
    '{"n": 9007199254740993, "list": [1.50, -2E+3], "text": "5"}',
    { n: 1 },
    { n: 1, b: 2 },
    '{\n  "n": 9007199254740993,\n  "list": [\n    1.50,\n    -2E+3\n  ],\n  "text": "5",\n  "b": 2\n}',
  ],
]
for (const [what, typed, before, after, expected] of cases) {
  test(`a body follows another example: ${what}`, () =>
    assert.equal(followExample(typed, { before: json(before), after: json(after) }), expected))
}

const method = (query: Readonly<Record<string, object>>): CalledMethod => ({
  method: 'GET',
  path: '/todo/:id',
  public: true,
  scopes: [],
  params: { type: 'object', properties: { id: { type: 'integer' } } },
  query: { type: 'object', properties: query },
  schemas: {},
  hasBody: false,
})

test('parameters are kept by name while their field can show them', () => {
  const before = method({
    state: { enum: ['open', 'done'] },
    kind: { enum: ['open'] },
    text: { type: 'string' },
    list: { type: 'array' },
    gone: { type: 'string' },
  })
  const parameters = {
    'path id': '5',
    'query state': 'done',
    'query kind': 'open',
    'query text': '',
    'query list': 'a\nb',
    'query gone': 'x',
  }
  const typed = { ...firstValues(before), parameters }
  assert.deepEqual(keepTyped(before, typed).parameters, parameters)
  const after = method({
    state: { enum: ['open'] },
    kind: { enum: ['shut', 'open'] },
    text: { type: 'integer' },
    list: { type: 'string' },
    added: { type: 'string' },
  })
  const kept = keepTyped(after, typed)
  assert.deepEqual(kept.parameters, { 'path id': '5', 'query kind': 'open' })
  assert.equal(writePath(after, kept), '/todo/5?kind=open')
})
