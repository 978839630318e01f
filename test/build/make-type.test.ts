import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import type { JsonSchema } from '../../src/contract/index.ts'
import { compile } from './compile.ts'
import { emptyDefinition } from './project.ts'

/** Returns the type aliases of named schemas, by alias, without line breaks. */
function typesOf(schemas: Readonly<Record<string, JsonSchema>>): Record<string, string> {
  const text = makeTypes({ ...emptyDefinition, schemas }, { tables: {}, clientTypes: {} })
  const inner = /^export declare namespace Schema \{\n(.*?)\n\}$/ms.exec(text)![1]!
  const types = inner.split(/^ {2}type (?=[\p{L}_$])/mu).slice(1)
  return Object.fromEntries(
    types.map((type) => {
      const [alias, ...rest] = type.split(' = ')
      return [alias!, rest.join(' = ').replace(/\s+/g, ' ').trim()]
    }),
  )
}

const rows: readonly [schema: JsonSchema, type: string][] = [
  [true, 'unknown'],
  [false, 'never'],
  [{}, 'unknown'],
  [{ type: 'string', format: 'date-time', pattern: 'x' }, 'string'],
  [{ type: 'integer' }, 'number'],
  [{ type: 'number', minimum: 1 }, 'number'],
  [{ type: 'boolean' }, 'boolean'],
  [{ type: 'null' }, 'null'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: ['integer', 'number'] }, 'number'],
  [{ type: 'string', nullable: true }, 'string | null'],
  [{ type: 'colour' }, 'unknown'],
  [{ enum: ['a', "it's", 1, null, true, { a: [1] }] }, `'a' | 'it\\'s' | 1 | null | true | { a: [1] }`],
  [{ type: 'string', enum: ['a', 'b'] }, `'a' | 'b'`],
  [{ const: 'x' }, `'x'`],
  [{ type: 'object' }, '{ [name: string]: unknown }'],
  [{ type: 'object', additionalProperties: false }, '{ [name: string]: never }'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name: string]: number }'],
  [{ additionalProperties: true }, '{ [name: string]: unknown }'],
  [{ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] }, '{ a: string; b?: unknown }'],
  [{ properties: { a: { type: 'string', default: 'x' } } }, '{ a?: string }'],
  [{ type: 'object', required: ['a'] }, '{ a: unknown }'],
  [
    { type: 'object', properties: { 'a-b': true, "it's": true, größe: true, '1': true }, required: ['a-b'] },
    `{ '1'?: unknown; 'a-b': unknown; 'it\\'s'?: unknown; größe?: unknown }`,
  ],
  [
    { properties: { a: { type: 'string' } }, additionalProperties: { type: 'number' } },
    '{ a?: string; [name: string]: number | string | undefined }',
  ],
  [
    {
      properties: { a: { type: 'string' } },
      required: ['a'],
      patternProperties: { '^x-': { type: 'null' } },
      additionalProperties: false,
    },
    '{ a: string; [name: string]: null | string }',
  ],
  [{ properties: { a: { type: 'string' } }, additionalProperties: true }, '{ a?: string; [name: string]: unknown }'],
  [{ type: 'array' }, 'unknown[]'],
  [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
  [{ items: { type: 'array', items: { type: 'number' } } }, 'number[][]'],
  [{ prefixItems: [{ type: 'string' }, { type: ['number', 'null'] }], items: false }, '[string?, (number | null)?]'],
  [
    { prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 1, items: { type: 'boolean' } },
    '[string, number?, ...boolean[]]',
  ],
  [{ prefixItems: [{ type: 'string' }], minItems: 1 }, '[string, ...unknown[]]'],
  [{ items: [{ type: 'string' }], minItems: 1, additionalItems: false }, '[string]'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
  [{ oneOf: [{ const: 'a' }, { const: 'b' }, { const: 'a' }] }, `'a' | 'b'`],
  [
    { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    '{ a?: string } & ({ a: unknown } | { b: unknown })',
  ],
  [
    { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }] },
    '{ a?: string } & { b?: number }',
  ],
  [{ type: 'object', allOf: [{ $ref: 'schema:///Other' }, { required: ['x'] }] }, 'Other & { x: unknown }'],
  [{ type: 'string', anyOf: [{ minLength: 1 }, { pattern: 'x' }] }, 'string'],
  [
    { type: 'array', items: { allOf: [{ $ref: 'schema:///Other' }, { $ref: 'schema:///other-one' }] } },
    '(Other & OtherOne)[]',
  ],
  [{ $ref: 'schema:///Other', description: 'x' }, 'Other'],
  [{ $ref: 'schema:///other-one' }, 'OtherOne'],
  [{ $ref: 'schema:///Other%20Two' }, 'OtherTwo'],
  [{ $ref: 'schema:///Gone' }, 'unknown'],
  [{ $ref: 'https://example.com/schema.json' }, 'unknown'],
  [{ $ref: 'schema:///Other#/properties/x' }, 'string'],
  [
    { $ref: '#/$defs/a', $defs: { a: { type: 'array', items: { $ref: '#/$defs/b' } }, b: { type: 'number' } } },
    'number[]',
  ],
  [{ $ref: '#/$defs/a', $defs: { a: { properties: { a: { $ref: '#/$defs/a' } } } } }, '{ a?: unknown }'],
  [{ properties: { self: { $ref: '#' } } }, '{ self?: Sample }'],
  [{ properties: { many: { type: 'array', items: { $ref: 'schema:///Sample' } } } }, '{ many?: Sample[] }'],
  [{ $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'null' } } }, 'null'],
  [{ not: { type: 'string' }, if: {}, then: { type: 'number' } }, 'unknown'],
]

test('each schema has the type of the values that it accepts', () => {
  for (const [schema, type] of rows) {
    const schemas = {
      Other: { properties: { x: { type: 'string' } } },
      'other-one': true,
      'Other Two': true,
      Sample: schema,
    }
    assert.equal(typesOf(schemas)['Sample'], type, JSON.stringify(schema))
  }
})

test('the compiler accepts every one of them', async () => {
  const others = { Other: { properties: { x: { type: 'string' } } }, 'other-one': true, 'Other Two': true }
  const samples = Object.fromEntries(rows.map(([schema], index) => [`Sample${index}`, schema]))
  const events = Object.fromEntries(rows.map(([schema], index) => [`event-${index}`, { schema }]))
  const schemas = { ...others, ...samples, Sample: { $ref: 'schema:///Sample3' } }
  const types = makeTypes({ ...emptyDefinition, schemas, events }, { tables: {}, clientTypes: {} })
  assert.deepEqual(await compile({ 'src/a.ts': 'export {}\n', '.waypost/types.d.ts': types }), [])
})

test('names of schemas become unique names of types', () => {
  assert.deepEqual(
    Object.keys(
      typesOf({
        'todo-input': true,
        TodoInput: true,
        'todo input': true,
        '1st': true,
        größe: true,
        string: true,
        Kysely: true,
        '-': true,
      }),
    ),
    ['TodoInput3', 'TodoInput', 'TodoInput2', '_1st', 'Größe', 'String', 'Kysely', '_'],
  )
})

test('descriptions become comments that cannot end early', () => {
  const schemas = { A: { description: 'One\n  two */ three', properties: { a: { description: 'x', type: 'string' } } } }
  const text = makeTypes({ ...emptyDefinition, schemas }, { tables: {}, clientTypes: {} })
  assert.match(
    text,
    /^ {2}\/\*\* One two \*\\\/ three \*\/\n {2}type A = \{\n {4}\/\*\* x \*\/\n {4}a\?: string\n {2}\}$/m,
  )
})

test('the same definition results in the same text', () => {
  const make = () =>
    makeTypes({ ...emptyDefinition, schemas: { B: true, A: { $ref: 'schema:///B' } } }, { tables: {}, clientTypes: {} })
  assert.equal(make(), make())
})
