// What the schema editor of the backend's pages does with a JSON Schema.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeRequired, moveRow, removeRow, renameField } from '../../src/backend/ui/edit/change-fields.ts'
import { changeNull, changeType } from '../../src/backend/ui/edit/change-type.ts'
import { findDiscriminator, flattenRows, listMoreKeywords, readRows } from '../../src/backend/ui/edit/schema-rows.ts'
import { order, rowOf, describeRow } from './schema-rows.ts'

describe('rows of a schema', () => {
  test('show names that are only required: they may have any value, and become listed with a type', () => {
    const schema = { type: 'object', required: ['b', 'a'], properties: { a: { type: 'string' } } }
    assert.deepEqual(flattenRows(readRows(schema)).map(describeRow), ['root: object', '  a!: string', '  b!: any'])
    const row = rowOf(schema, 'b')
    assert.deepEqual(changeRequired(schema, row, false), { ...schema, required: ['a'] })
    assert.deepEqual(removeRow(schema, row), { ...schema, required: ['a'] })
    assert.deepEqual(renameField(schema, row, 'c'), { ...schema, required: ['c', 'a'] })
    assert.equal(renameField(schema, rowOf(schema, 'a'), 'b'), undefined)
    assert.deepEqual(moveRow(schema, row, -1), schema)
    const bare = { required: ['b'] }
    assert.deepEqual(renameField(bare, rowOf(bare, 'b'), 'c'), { required: ['c'] })
  })

  test('show nested objects, lists, references, unions and what may be null', () => {
    assert.deepEqual(flattenRows(readRows(order)).map(describeRow), [
      'root: object',
      '  id!: integer',
      '  buyer: reference User?',
      '  address: object?',
      '    city: string',
      '  lines!: array of object',
      '    sku!: string',
      '  payment: union',
      '    variant: reference Card',
      '    variant: reference Transfer',
    ])
  })

  test('have the keys of their schemas', () => {
    const at = (name: string) => rowOf(order, name).at.join('/')
    assert.equal(at('sku'), 'properties/lines/items/properties/sku')
    assert.equal(at('city'), 'properties/address/properties/city')
  })

  for (const [schema, expected] of [
    [true, 'any'],
    [{}, 'any'],
    ['Todo', 'reference Todo'],
    [{ enum: ['a', 1] }, 'any'],
    [{ const: 'a' }, 'const'],
    [{ type: ['string', 'integer'] }, 'several'],
    [{ type: ['string', 'integer', 'null'] }, 'several?'],
    [{ type: 'null' }, 'null'],
    [{ type: 'array' }, 'array of any'],
    [{ type: 'array', items: { type: 'array', items: { type: ['number', 'null'] } } }, 'array of array of number?'],
    [{ type: 'array', prefixItems: [{}], items: false, minItems: 1 }, 'other'],
    [{ allOf: [{ $ref: 'schema:///A' }] }, 'other'],
    [{ $ref: './other.json' }, 'other'],
    [{ $ref: 'schema:///A#/properties/b' }, 'other'],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 'string?'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] }, 'union?'],
    [{ type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }, 'object'],
    [{ properties: { a: {} } }, 'object'],
    [false, 'other'],
  ] as const) {
    test(`read ${JSON.stringify(schema)} as ${expected}`, () => {
      assert.equal(describeRow(readRows(schema)).replace('root: ', ''), expected)
    })
  }

  test('list the keywords that the table does not show', () => {
    const schema = {
      type: 'array',
      title: 'Tags',
      examples: [[]],
      contains: {},
      items: { type: 'string', maxLength: 3, 'x-internal': true },
    }
    assert.deepEqual(
      listMoreKeywords(readRows(schema)).map(({ keys }) => keys.join('/')),
      ['title', 'contains', 'items/x-internal'],
    )
    assert.deepEqual(flattenRows(readRows(order)).flatMap(listMoreKeywords), [])
  })

  test('know the property that tells the alternatives of a union apart', () => {
    const typed = (value: string) => ({ type: 'object', properties: { id: {}, kind: { const: value } } })
    const union = readRows({ oneOf: [typed('card'), { $ref: 'schema:///T' }] })
    assert.equal(findDiscriminator(union, { T: typed('transfer') }), 'kind')
    assert.equal(findDiscriminator(union, { T: typed('card') }), undefined)
    assert.equal(findDiscriminator(union, {}), undefined)
  })
})

describe('a change of a type', () => {
  for (const [what, schema, choice, expected] of [
    [
      'keeps the description and drops limits of the old type',
      { type: 'string', maxLength: 3, description: 'Age', 'x-a': 1 },
      { kind: 'integer' },
      { type: 'integer', description: 'Age', 'x-a': 1 },
    ],
    [
      'keeps limits that also apply to the new type',
      { minimum: 1, type: 'integer', default: 4 },
      { kind: 'number' },
      { minimum: 1, type: 'number', default: 4 },
    ],
    [
      'drops values that do not fit',
      { type: 'string', enum: ['a'], default: 'a' },
      { kind: 'integer' },
      { type: 'integer' },
    ],
    ['keeps null', { type: ['string', 'null'] }, { kind: 'boolean' }, { type: ['boolean', 'null'] }],
    [
      'sets a format',
      { type: 'string', maxLength: 5 },
      { kind: 'string', format: 'date' },
      { type: 'string', format: 'date', maxLength: 5 },
    ],
    [
      'keeps null of a reference',
      { anyOf: [{ $ref: 'schema:///A' }, { type: 'null' }], description: 'D' },
      { kind: 'reference', name: 'B C' },
      { anyOf: [{ $ref: 'schema:///B%20C' }, { type: 'null' }], description: 'D' },
    ],
    [
      'from a reference that may be null to a text',
      { anyOf: [{ $ref: 'schema:///A' }, { type: 'null' }] },
      { kind: 'string' },
      { type: ['string', 'null'] },
    ],
    [
      'makes a list of what there was',
      { type: 'string', maxLength: 3, description: 'D' },
      { kind: 'array' },
      { type: 'array', items: { type: 'string', maxLength: 3 }, description: 'D' },
    ],
    [
      'takes the items out of a list',
      { type: 'array', minItems: 1, items: { type: 'string', maxLength: 3 }, description: 'D' },
      { kind: 'string' },
      { type: 'string', description: 'D', maxLength: 3 },
    ],
    [
      'begins a union with what there was',
      { $ref: 'schema:///A', description: 'D' },
      { kind: 'union' },
      { oneOf: [{ $ref: 'schema:///A' }], description: 'D' },
    ],
    ['to any value', { type: 'string', maxLength: 3, description: 'D' }, { kind: 'any' }, { description: 'D' }],
    ['from any value', {}, { kind: 'object' }, { type: 'object' }],
    ['to a fixed value', { type: 'string', default: 'a' }, { kind: 'const' }, { const: 'a' }],
  ] as const) {
    test(what, () => {
      const changed = changeType(schema, choice)
      assert.deepEqual(changed, expected)
      assert.deepEqual(Object.keys(changed), Object.keys(expected))
    })
  }
})

describe('null', () => {
  for (const [without, withNull] of [
    [{ type: 'string' }, { type: ['string', 'null'] }],
    [
      { type: 'string', enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [{ type: ['string', 'integer'] }, { type: ['string', 'integer', 'null'] }],
    [{ $ref: 'schema:///A' }, { anyOf: [{ $ref: 'schema:///A' }, { type: 'null' }] }],
    [{ oneOf: [{ type: 'string' }, {}] }, { oneOf: [{ type: 'string' }, {}, { type: 'null' }] }],
  ] as const) {
    test(`is allowed and refused in ${JSON.stringify(without)}`, () => {
      assert.deepEqual(changeNull(without, true), withNull)
      assert.deepEqual(changeNull(withNull, false), without)
      assert.deepEqual(changeNull(withNull, true), withNull)
    })
  }
})
