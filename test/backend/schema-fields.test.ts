import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkExample } from '../../src/backend/ui/edit/check-example.ts'
import { exampleOf, schemaOfExample, schemaOfTable } from '../../src/backend/ui/edit/make-schema.ts'
import {
  addDiscriminator,
  addField,
  addVariant,
  changeRequired,
  indentField,
  moveRow,
  outdentField,
  removeRow,
  renameField,
} from '../../src/backend/ui/edit/change-fields.ts'
import { changeKeyword } from '../../src/backend/ui/edit/change-type.ts'
import { findDiscriminator, flattenRows, readRows } from '../../src/backend/ui/edit/schema-rows.ts'
import { order, rowOf } from './schema-rows.ts'

describe('fields', () => {
  const small = {
    type: 'object',
    required: ['a', 'c'],
    properties: { a: { type: 'string' }, b: { type: 'object' }, c: { type: 'number' } },
    additionalProperties: false,
  }
  const namesOf = (schema: unknown) =>
    flattenRows(readRows(schema))
      .slice(1)
      .map(({ id, name, isRequired }) => `${'.'.repeat(id.split('.').length - 2)}${name}${isRequired ? '!' : ''}`)
      .join(' ')

  test('are added with a free name', () => {
    const first = addField(small, readRows(small), { index: 1 })
    assert.equal(namesOf(first.schema), 'a! field b c!')
    const second = addField(first.schema, readRows(first.schema))
    assert.equal(second.name, 'field_2')
    const inner = addField(
      { type: 'array', items: { type: 'object' } },
      readRows({ type: 'array', items: { type: 'object' } }),
    )
    assert.deepEqual(inner.schema, {
      type: 'array',
      items: { type: 'object', properties: { field: { type: 'string' } } },
    })
  })

  test('are renamed in place, also in required', () => {
    const renamed = renameField(small, rowOf(small, 'a'), 'x')
    assert.equal(namesOf(renamed), 'x! b c!')
    assert.deepEqual(Object.keys(renamed as object), Object.keys(small))
    assert.equal(renameField(small, rowOf(small, 'a'), 'b'), undefined)
  })

  test('are removed; empty lists do not stay', () => {
    assert.equal(namesOf(removeRow(small, rowOf(small, 'a'))), 'b c!')
    const last = { type: 'object', required: ['a'], properties: { a: {} } }
    assert.deepEqual(removeRow(last, rowOf(last, 'a')), { type: 'object' })
  })

  test('are required and optional, in the order of the fields', () => {
    assert.deepEqual((changeRequired(small, rowOf(small, 'b'), true) as typeof small).required, ['a', 'b', 'c'])
    const none = changeRequired({ type: 'object', required: ['a'], properties: { a: {} } }, rowOf(small, 'a'), false)
    assert.deepEqual(none, { type: 'object', properties: { a: {} } })
    const again = changeRequired(none, rowOf(none, 'a'), true)
    assert.deepEqual(Object.keys(again as object), ['type', 'required', 'properties'])
  })

  test('are moved', () => {
    assert.equal(namesOf(moveRow(small, rowOf(small, 'c'), -1)), 'a! c! b')
    assert.equal(namesOf(moveRow(small, rowOf(small, 'a'), 1)), 'b a! c!')
    assert.equal(moveRow(small, rowOf(small, 'a'), -1), undefined)
    assert.equal(moveRow(small, rowOf(small, 'c'), 1), undefined)
  })

  test('are moved into the object before them and out of it', () => {
    const inside = indentField(small, rowOf(small, 'c'))!
    assert.equal(namesOf(inside.schema), 'a! b .c!')
    assert.equal(inside.id, '0.1.0')
    const outside = outdentField(inside.schema, rowOf(inside.schema, 'c'))!
    assert.deepEqual(outside.schema, small)
    assert.equal(outside.id, '0.2')
    assert.equal(indentField(small, rowOf(small, 'b')), undefined)
    assert.equal(outdentField(small, rowOf(small, 'b')), undefined)
  })

  test('that are moved get a free name', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'object', properties: { b: {} } }, b: { type: 'string' } },
    }
    const second = flattenRows(readRows(schema)).at(-1)!
    assert.equal(namesOf(indentField(schema, second)!.schema), 'a .b .b_2')
  })

  test('have keywords; new limits are next to the type', () => {
    const changed = changeKeyword({ type: 'string', description: 'D' }, 'maxLength', 3)
    assert.deepEqual(Object.keys(changed), ['type', 'maxLength', 'description'])
    const both = changeKeyword(changed, 'minLength', 1)
    assert.deepEqual(Object.keys(both), ['type', 'minLength', 'maxLength', 'description'])
    assert.deepEqual(changeKeyword(changed, 'maxLength', undefined), { type: 'string', description: 'D' })
  })
})

describe('unions', () => {
  test('get alternatives before null, which are moved and removed', () => {
    const union = { oneOf: [{ $ref: 'schema:///A' }, { $ref: 'schema:///B' }, { type: 'null' }] }
    const added = addVariant(union, readRows(union), { type: 'object' })
    assert.deepEqual(added, { oneOf: [...union.oneOf.slice(0, 2), { type: 'object' }, { type: 'null' }] })
    const [, first] = flattenRows(readRows(added))
    const moved = moveRow(added, first!, 1)
    assert.deepEqual(removeRow(moved, flattenRows(readRows(moved))[1]!), {
      oneOf: [{ $ref: 'schema:///A' }, { type: 'object' }, { type: 'null' }],
    })
  })

  test('get a property that tells their alternatives apart', () => {
    const union = { oneOf: [{ type: 'object', properties: { a: {} } }, { type: 'object' }] }
    const changed = addDiscriminator(union, readRows(union), 'kind')
    assert.deepEqual(changed, {
      oneOf: [
        { type: 'object', required: ['kind'], properties: { kind: { const: 'option_1' }, a: {} } },
        { type: 'object', properties: { kind: { const: 'option_2' } }, required: ['kind'] },
      ],
    })
    assert.equal(findDiscriminator(readRows(changed), {}), 'kind')
  })
})

describe('a schema from an example', () => {
  for (const [example, expected] of [
    [{}, { type: 'object' }],
    [
      { a: null, b: [] },
      { type: 'object', required: ['a', 'b'], properties: { a: {}, b: { type: 'array' } } },
    ],
    [[1, 2.5], { type: 'array', items: { type: 'number' } }],
    [[1, null], { type: 'array', items: { type: ['integer', 'null'] } }],
    [[1, 'a', true], { type: 'array', items: { type: ['integer', 'string', 'boolean'] } }],
    [['2027-01-31', '2027-02-01'], { type: 'array', items: { type: 'string', format: 'date' } }],
    [['2027-01-31', 'soon'], { type: 'array', items: { type: 'string' } }],
    [
      [{ a: 1, b: 'x' }, { a: 2 }],
      {
        type: 'array',
        items: { type: 'object', required: ['a'], properties: { a: { type: 'integer' }, b: { type: 'string' } } },
      },
    ],
    [
      [{ a: 1 }, 'x'],
      {
        type: 'array',
        items: {
          anyOf: [{ type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }, { type: 'string' }],
        },
      },
    ],
    ['2027-01-31T12:00:00Z', { type: 'string', format: 'date-time' }],
    ['ann@example.com', { type: 'string', format: 'email' }],
    ['https://example.com/a?b=c', { type: 'string', format: 'uri' }],
    ['123e4567-e89b-42d3-a456-426614174000', { type: 'string', format: 'uuid' }],
    [null, {}],
  ] as const) {
    test(JSON.stringify(example), () => {
      const schema = schemaOfExample(example)
      assert.deepEqual(schema, expected)
      assert.deepEqual(checkExample(JSON.stringify(example), schema, {}).problems, [])
    })
  }
})

test('a schema from a table is that of its rows, or of what callers send', () => {
  const plain = { length: null, null: false, default: false, generated: false }
  const columns = [
    { ...plain, name: 'id', type: 'id' },
    { ...plain, name: 'title', type: 'text', length: 64 },
    { ...plain, name: 'status', type: 'integer', default: true },
    { ...plain, name: 'due', type: 'date', null: true },
    { ...plain, name: 'length', type: 'integer', generated: true },
    { ...plain, name: 'data', type: 'json' },
  ]
  assert.deepEqual(schemaOfTable(columns, 'read'), {
    type: 'object',
    required: ['id', 'title', 'status', 'due', 'length', 'data'],
    properties: {
      id: { type: 'integer' },
      title: { type: 'string' },
      status: { type: 'integer' },
      due: { type: ['string', 'null'], format: 'date' },
      length: { type: 'integer' },
      data: {},
    },
  })
  assert.deepEqual(schemaOfTable(columns, 'write'), {
    type: 'object',
    required: ['title', 'data'],
    additionalProperties: false,
    properties: {
      title: { type: 'string', maxLength: 64 },
      status: { type: 'integer' },
      due: { type: ['string', 'null'], format: 'date' },
      data: {},
    },
  })
})

describe('the check of an example', () => {
  const named = {
    Todo: { type: 'object', properties: { at: { anyOf: [{ $ref: 'schema:///Time' }, { type: 'null' }] } } },
    Time: { type: 'string', format: 'date-time' },
  }
  const schema = {
    type: 'object',
    required: ['title', 'count'],
    additionalProperties: false,
    properties: {
      title: { type: 'string', maxLength: 3 },
      count: { type: ['integer', 'null'] },
      todo: { $ref: 'schema:///Todo' },
      state: { enum: ['open', 'done'] },
      kind: { const: 'a' },
      one: { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      tags: { type: 'array', minItems: 1, items: { type: 'string' } },
    },
  }
  for (const [text, ...expected] of [
    ['{ "title": "abc", "count": 1, "todo": { "at": "2027-01-31T12:00:00Z" } }'],
    ['{\n  "title": "abcd",\n  "count": null }', '2 /title: String is too long (4 > 3)'],
    ['\n{ "title": "abc" }', '2 : The property "count" is missing'],
    ['{ "title": "a",\n"count": "b" }', '2 /count: Must be integer or null, not string'],
    ['{ "title": "a", "count": 1,\n\n"x~/%é": 2 }', '3 /x~0~1%é: This property is not allowed'],
    ['{ "title": "a", "count": 1, "todo": { "at": 5 } }', '1 /todo/at: Matches none of the alternatives'],
    ['{ "title": "a", "count": 1, "state": "x" }', '1 /state: Must be one of ["open","done"]'],
    ['{ "title": "a", "count": 1, "kind": "x" }', '1 /kind: Must be "a"'],
    ['{ "title": "a", "count": 1, "one": 1 }', '1 /one: Matches 2 alternatives, but must match exactly one'],
    ['{ "title": "a", "count": 1, "tags": [] }', '1 /tags: Array has too few items (0 < 1)'],
    ['{ "title": "a", "count": 1, "tags": ["a",\n1] }', '2 /tags/1: Must be string, not number'],
    ['{\n"title": }', '2 : Expected a value'],
    ['{ "title": "a" ', '1 : "," is missing at the end'],
    ['', '1 : A value is missing at the end'],
    ['{} 1', '1 : Nothing may follow the value'],
    ['{ title: 1 }', '1 : Expected a name in double quotes'],
    ['tru', '1 : tru is not JSON'],
    ['['.repeat(100_000), '1 : This is nested too deeply'],
  ] as const) {
    test(JSON.stringify(text.slice(0, 80)), () => {
      const { problems } = checkExample(text, schema, named)
      assert.deepEqual(
        problems.map(({ line, at, message }) => `${line} ${at}: ${message}`),
        expected,
      )
    })
  }

  test('tells of a schema that cannot be used', () => {
    const [problem] = checkExample('{}', { $ref: 'schema:///Nowhere' }, {}).problems
    assert.match(problem!.message, /Nowhere/)
  })

  test('accepts the example that is made from a schema', () => {
    const made = exampleOf(order, {
      User: { type: 'object', properties: { name: { type: 'string', minLength: 9 } } },
      Card: { type: 'object', required: ['number'], properties: { number: { type: 'string', format: 'email' } } },
      Transfer: { type: 'object', required: ['iban'] },
    })
    const { problems } = checkExample(JSON.stringify(made), order, {
      User: {},
      Card: { required: ['number'] },
      Transfer: { required: ['iban'] },
    })
    assert.deepEqual(problems, [])
  })
})
