import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { makeType } from '../../src/build/make-type.ts'
import { loadFiles, showProblem } from './project.ts'

/** A schema and the one that a release contains. */
const cases: readonly (readonly [written: string, made: string])[] = [
  ['{ properties: { a: { minLength: 1 } } }', '{ type: object, properties: { a: { type: string, minLength: 1 } } }'],
  ['{ required: [a], properties: { a: true } }', '{ type: object, required: [a], properties: { a: true } }'],
  ['{ additionalProperties: { minimum: 1 } }', '{ type: object, additionalProperties: { type: number, minimum: 1 } }'],
  ['{ items: { pattern: ^a } }', '{ type: array, items: { type: string, pattern: ^a } }'],
  ['{ maximum: 1, format: int32 }', '{ type: integer, maximum: 1, format: int32 }'],
  ['{ format: date }', '{ type: string, format: date }'],
  ['{ format: double }', '{ type: number, format: double }'],
  ['{ enum: [a, b] }', '{ type: string, enum: [a, b] }'],
  ['{ enum: [1, 1.5, null] }', '{ type: [integer, number, "null"], enum: [1, 1.5, null] }'],
  ['{ enum: [a], minLength: 1 }', '{ type: string, enum: [a], minLength: 1 }'],
  ['{ const: true }', '{ type: boolean, const: true }'],
  // The keywords beside it decide which properties of an object are sent.
  ['{ const: { a: 1 } }', '{ const: { a: 1 } }'],
  ['{ enum: [[1], a] }', '{ enum: [[1], a] }'],
  [
    '{ anyOf: [{ minLength: 1 }, { minimum: 1 }] }',
    '{ anyOf: [{ type: string, minLength: 1 }, { type: number, minimum: 1 }] }',
  ],
  [
    '{ allOf: [{ $ref: "#/$defs/b" }, { minProperties: 1 }], $defs: { b: { properties: { a: true } } } }',
    '{ allOf: [{ $ref: "schema:///A#/$defs/b" }, { type: object, minProperties: 1 }], $defs: { b: { type: object, properties: { a: true } } } }',
  ],
  [
    '{ type: object, properties: { a: true }, anyOf: [{ required: [a] }] }',
    '{ type: object, properties: { a: true }, anyOf: [{ required: [a] }] }',
  ],
  [
    '{ properties: { a: true }, not: { required: [a] } }',
    '{ type: object, properties: { a: true }, not: { required: [a] } }',
  ],
  [
    '{ properties: { a: true }, if: { required: [a] }, then: { minProperties: 2 } }',
    '{ type: object, properties: { a: true }, if: { required: [a] }, then: { minProperties: 2 } }',
  ],
  ['{ not: { const: 1 } }', '{ not: { const: 1 } }'],
  [
    '{ if: { properties: { a: { const: 1 } }, type: object }, then: { maxProperties: 1 } }',
    '{ if: { properties: { a: { const: 1 } }, type: object }, then: { type: object, maxProperties: 1 } }',
  ],
  ['{ contains: { const: 1 } }', '{ type: array, contains: { const: 1 } }'],
  [
    '{ propertyNames: { pattern: ^a, maxLength: 3 } }',
    '{ type: object, propertyNames: { pattern: ^a, maxLength: 3 } }',
  ],
  [
    '{ dependentSchemas: { a: { minProperties: 2 } } }',
    '{ type: object, dependentSchemas: { a: { minProperties: 2 } } }',
  ],
  ['{ title: Anything, default: 1 }', '{ title: Anything, default: 1 }'],
]

describe('a schema without a type', () => {
  for (const [written, made] of cases) {
    test(`${written} has the type that its keywords imply`, async () => {
      const { definition, diagnostics } = await loadFiles({ 'waypost.yml': `schema:\n  A: ${written}\n` })
      assert.deepEqual(diagnostics.map(showProblem), [])
      assert.deepEqual(definition!.schemas['A'], parse(made))
    })
  }

  test('is written as the type of its values for TypeScript', async () => {
    const yml = 'schema:\n  A: { required: [a], properties: { a: { enum: [1, x] }, b: { items: { minimum: 1 } } } }\n'
    const { definition } = await loadFiles({ 'waypost.yml': yml })
    const scope = { root: definition!.schemas['A']!, schemas: definition!.schemas, aliases: new Map() }
    assert.match(
      makeType(scope.root, scope as never).text.replaceAll(/\s+/g, ' '),
      /a: 1 \| ('|")x('|");? b\?: number\[\]/,
    )
  })

  test('of an array in a request has no maximum length unless it says so', async () => {
    const yml =
      'routes:\n  /a:\n    methods:\n      POST: { public: true, rate: r, request: { items: true }, action: src/a.ts }\n'
    const { diagnostics } = await loadFiles({
      'waypost.yml': `${yml}rate: { r: { limit: 1, window: 1s } }\n`,
      'src/a.ts': '',
    })
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['WP_DEFINITION_ARRAY_UNLIMITED'],
    )
  })

  test('of an object is not a parameter', async () => {
    const yml =
      'routes:\n  /a/:b:\n    path: { b: { maxProperties: 1 } }\n    methods:\n      GET: { public: true, action: src/a.ts }\n'
    const { diagnostics } = await loadFiles({ 'waypost.yml': yml, 'src/a.ts': '' })
    assert.deepEqual(
      diagnostics.map(({ message }) => message),
      ['"b" cannot be of type "object": the path contains text'],
    )
  })
})
