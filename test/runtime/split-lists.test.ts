import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileValidator } from '../../src/runtime/compile-schema.ts'

const list = (more: object = {}) => ({ type: 'array', items: { enum: ['a', 'b'] }, ...more })

test('a list in the query with "explode: false" may be one text with commas', () => {
  const schema = { type: 'object', properties: { one: list({ explode: false }), other: list() } }
  const check = compileValidator(schema, {}, 'query')
  const read = (query: Record<string, unknown>) => check(query) ?? query
  assert.deepEqual(read({ one: 'a,b' }), { one: ['a', 'b'] })
  assert.deepEqual(read({ one: ['a,b', 'a'] }), { one: ['a', 'b', 'a'] })
  assert.deepEqual(read({ one: 'b' }), { one: ['b'] })
  assert.deepEqual(read({}), {})
  assert.deepEqual(read({ one: 'a,' }), [{ path: 'query/one/1', message: 'must be one of "a", "b"' }])
  assert.deepEqual(read({ other: 'a,b' }), [{ path: 'query/other/0', message: 'must be one of "a", "b"' }])
})

test('it is found in combined and named schemas', () => {
  const named = {
    List: list({ explode: false }),
    Query: { type: 'object', properties: { one: { $ref: 'schema:///List' } } },
  }
  const inAll = { allOf: [{ type: 'object', properties: { one: list({ explode: false }) } }, { type: 'object' }] }
  for (const schema of [inAll, { $ref: 'schema:///Query' }]) {
    const query = { one: 'a,b' }
    assert.equal(compileValidator(schema, named, 'query')(query), undefined, JSON.stringify(schema))
    assert.deepEqual(query, { one: ['a', 'b'] })
  }
})
