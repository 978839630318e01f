import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonSchema } from '../../src/contract/index.ts'
import { makeSchemaCache } from '../../src/runtime/index.ts'

type Named = Readonly<Record<string, JsonSchema>>

const string = { type: 'string' }
const draft07 = 'http://json-schema.org/draft-07/schema#'
const tree: Named = {
  Tree: {
    type: 'object',
    required: ['name'],
    properties: { name: string, children: { type: 'array', items: { $ref: 'schema:///Tree' } } },
  },
}
const chain: Named = {
  A: { type: 'object', properties: { b: { $ref: 'schema:///B' } } },
  B: { type: 'object', properties: { c: { $ref: 'schema:///C' } } },
  C: { type: 'object', required: ['n'], properties: { n: { $ref: 'schema:///D#/$defs/n' } } },
  D: { $defs: { n: { type: 'integer' } } },
  'with.dots-and_more': { $ref: 'schema:///A' },
}
const ping: Named = {
  Ping: { type: 'object', properties: { pong: { $ref: 'schema:///Pong' }, n: { type: 'integer' } } },
  Pong: { type: 'object', properties: { ping: { $ref: 'schema:///Ping' } } },
}

interface Case {
  readonly what: string
  readonly schema: JsonSchema
  readonly named?: Named
  readonly fits: readonly unknown[]
  readonly misfits: readonly unknown[]
}

const cases: readonly Case[] = [
  { what: 'true', schema: true, fits: [1, null, { a: 1 }], misfits: [] },
  { what: 'a name', schema: { $ref: 'schema:///Tree' }, named: tree, fits: [{ name: 'a' }], misfits: [{}, 'a'] },
  {
    what: 'a schema that contains itself',
    schema: { $ref: 'schema:///Tree' },
    named: tree,
    fits: [{ name: 'a', children: [{ name: 'b', children: [] }] }],
    misfits: [{ name: 'a', children: [{ name: 'b', children: [{}] }] }],
  },
  {
    what: 'two that contain one another',
    schema: { $ref: 'schema:///Ping' },
    named: ping,
    fits: [{ pong: { ping: { pong: {}, n: 1 } } }],
    misfits: [{ pong: { ping: { n: 'x' } } }],
  },
  {
    what: 'a chain of names and a pointer',
    schema: { type: 'array', items: { $ref: 'schema:///with.dots-and_more' } },
    named: chain,
    fits: [[{ b: { c: { n: 1 } } }]],
    misfits: [[{ b: { c: { n: 'x' } } }], [{ b: { c: {} } }]],
  },
  {
    what: 'a pointer inside the schema itself',
    schema: { type: 'object', properties: { a: { $ref: '#/$defs/text' } }, $defs: { text: string } },
    fits: [{ a: 'x' }],
    misfits: [{ a: 1 }],
  },
  {
    what: 'a reference with keywords beside it',
    schema: { type: 'object', properties: { a: { $ref: 'schema:///Short', minLength: 2 } } },
    named: { Short: { type: 'string', maxLength: 3 } },
    fits: [{ a: 'xx' }],
    misfits: [{ a: 'x' }, { a: 'xxxx' }],
  },
  {
    what: 'a tuple of 2020-12',
    schema: { type: 'array', prefixItems: [string, { type: 'integer' }], minItems: 2, items: false },
    fits: [['a', 1]],
    misfits: [['a'], ['a', 'b'], ['a', 1, 2]],
  },
  {
    what: 'a tuple of draft-07',
    schema: {
      $schema: draft07,
      type: 'array',
      items: [string, { type: 'integer' }],
      minItems: 2,
      additionalItems: false,
    },
    fits: [['a', 1]],
    misfits: [['a'], ['a', 'b'], ['a', 1, 2]],
  },
  {
    what: 'definitions and dependencies of draft-07 in a named schema',
    schema: { $ref: 'schema:///Old' },
    named: {
      Old: {
        $schema: draft07,
        definitions: { pair: { type: 'array', items: [string, string], minItems: 2, additionalItems: false } },
        type: 'object',
        properties: { a: { $ref: '#/definitions/pair' }, b: string, items: { type: 'array', items: string } },
        dependencies: { b: ['a'] },
      },
    },
    fits: [{ a: ['x', 'y'] }, { items: ['x'] }],
    misfits: [{ a: ['x', 1] }, { a: ['x', 'y', 'z'] }, { b: 'x' }],
  },
  {
    what: 'alternatives',
    schema: { oneOf: [{ $ref: 'schema:///Tree' }, { type: 'null' }, { type: 'integer' }] },
    named: tree,
    fits: [null, 1, { name: 'a' }],
    misfits: [{}, 'x'],
  },
  {
    what: 'a combination',
    schema: {
      allOf: [
        { type: 'object', required: ['a'], properties: { a: string } },
        { type: 'object', properties: { b: string } },
      ],
    },
    fits: [{ a: 'x', b: 'y' }],
    misfits: [{ b: 'y' }],
  },
  {
    what: 'a map',
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    fits: [{}, { a: 1, 'b c': 2 }],
    misfits: [{ a: 'x' }],
  },
  { what: 'formats', schema: { type: 'string', format: 'email' }, fits: ['a@b.example'], misfits: ['a'] },
  {
    what: 'something that may be null and contains itself',
    schema: { type: ['object', 'null'], required: ['n'], properties: { n: { type: 'integer' }, next: { $ref: '#' } } },
    fits: [null, { n: 1 }, { n: 1, next: { n: 2, next: null } }],
    misfits: [{}, { n: 1, next: {} }, 'x'],
  },
  {
    what: 'a named one of many types that contains itself',
    schema: { $ref: 'schema:///Any' },
    named: {
      Any: {
        type: ['object', 'array', 'string', 'null'],
        required: ['in'],
        properties: { in: { $ref: 'schema:///Any' }, of: { $ref: '#/$defs/of' } },
        items: { $ref: 'schema:///Any' },
        $defs: { of: { type: ['array', 'null'], items: { $ref: '#' } } },
      },
    },
    fits: [null, 'x', ['x', [null]], { in: ['x'], of: [{ in: null }] }],
    misfits: [1, [1], { of: [] }],
  },
  {
    what: 'a combination of types of which one is narrower',
    schema: {
      allOf: [
        { type: ['object', 'null'], properties: { a: { type: ['string', 'null'] } } },
        { type: 'object', properties: { a: { type: 'string', format: 'date' }, b: { type: 'integer' } } },
      ],
    },
    fits: [{ a: '2026-01-31', b: 1 }],
    misfits: [null, { a: null }, { a: 'x' }],
  },
  {
    what: 'conditions around something that contains itself',
    schema: {
      type: 'object',
      properties: { kind: { enum: ['leaf', 'node'] } },
      if: { type: 'object', properties: { kind: { const: 'node' } } },
      then: { type: 'object', required: ['of'], properties: { of: { type: 'array', items: { $ref: '#' } } } },
      else: { type: 'object', properties: { text: string } },
    },
    fits: [
      {
        kind: 'node',
        of: [
          { kind: 'leaf', text: 'x' },
          { kind: 'node', of: [] },
        ],
      },
    ],
    misfits: [{ kind: 'node' }, { kind: 'node', of: [{ kind: 'other' }] }],
  },
  {
    what: 'a tuple with additional items',
    schema: { type: 'array', prefixItems: [string, { type: ['object', 'null'] }], items: { type: 'integer' } },
    fits: [['a', null, 1, 2], ['a'], []],
    misfits: [[1], ['a', null, 'x']],
  },
  {
    what: 'a price in whole cents',
    schema: { type: 'number', multipleOf: 0.01 },
    fits: [0.07, 19.99, 4.35, 1e15 + 0.25, 0],
    misfits: [0.071, 19.995, 0.1 + 0.2],
  },
  {
    what: 'alternatives that differ in the step of a number, or in whether items are unique',
    schema: {
      anyOf: [
        { type: 'object', required: ['cents'], properties: { cents: { type: 'number', multipleOf: 0.01 } } },
        {
          type: 'object',
          required: ['set'],
          properties: { set: { type: 'array', uniqueItems: true, items: { $ref: 'schema:///Any' } } },
        },
      ],
    },
    named: { Any: true },
    fits: [{ cents: 0.07 }, { set: [1, '1', { a: 1, b: 2 }, { a: 2, b: 1 }] }],
    misfits: [
      { cents: 0.071 },
      {
        set: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
    ],
  },
  { what: 'several types', schema: { type: ['string', 'null'] }, fits: ['a', null], misfits: [1] },
]

describe('a schema', () => {
  const cache = makeSchemaCache()
  for (const { what, schema, named = {}, fits, misfits } of cases) {
    test(`checks bodies: ${what}`, () => {
      const check = cache.validator(schema, named, 'body')
      for (const value of fits) assert.equal(check(value), undefined, JSON.stringify(value))
      for (const value of misfits) assert.ok(check(value), JSON.stringify(value))
    })

    test(`writes matching results: ${what}`, () => {
      const write = cache.serializer(schema, named)
      for (const value of fits) assert.deepEqual(JSON.parse(write(value)), value)
    })
  }

  test('drops undeclared properties, at every depth and behind references', () => {
    const write = cache.serializer({ $ref: 'schema:///Tree' }, tree)
    const written = write({
      name: 'a',
      secret: 1,
      children: [{ name: 'b', secret: 2, children: [{ name: 'c', secret: 3 }] }],
    })
    assert.deepEqual(JSON.parse(written), { name: 'a', children: [{ name: 'b', children: [{ name: 'c' }] }] })
    const writeOne = cache.serializer({ anyOf: [{ $ref: 'schema:///Tree' }, { type: 'null' }] }, tree)
    assert.deepEqual(JSON.parse(writeOne({ name: 'a', secret: 1 })), { name: 'a' })
  })

  test('drops undeclared properties if several types are possible', () => {
    const part = { type: ['object', 'string', 'null'], properties: { a: { type: 'integer' }, next: { $ref: '#' } } }
    const write = cache.serializer(part, {})
    assert.equal(write({ a: 1, secret: 2, next: { secret: 3, next: 'x' } }), '{"a":1,"next":{"next":"x"}}')
    const writeNull = cache.serializer({ ...part, type: ['object', 'null'] }, {})
    assert.equal(writeNull({ a: 1, secret: 2, next: { secret: 3, next: null } }), '{"a":1,"next":{"next":null}}')
  })

  test('drops undeclared properties if no code can be generated', () => {
    const part = (a: object, b: object) => ({
      allOf: [
        { type: 'object', ...a },
        { type: ['object', 'null'], ...b },
      ],
    })
    const schema = {
      ...part(
        { properties: { a: { type: 'array', prefixItems: [string], items: { $ref: 'schema:///Tree' } } } },
        { patternProperties: { '^x-': { $ref: '#/$defs/inner' } } },
      ),
      $defs: { inner: part({ properties: { n: { type: 'integer' } } }, { properties: { free: true } }) },
    }
    const write = cache.serializer(schema, tree)
    const written = write({
      a: ['x', { name: 'y', secret: 1, children: [{ name: 'z', secret: 2 }] }],
      'x-1': { n: 1, secret: 3, free: { anything: 1 } },
      secret: 4,
    })
    assert.deepEqual(JSON.parse(written), {
      a: ['x', { name: 'y', children: [{ name: 'z' }] }],
      'x-1': { n: 1, free: { anything: 1 } },
    })
    assert.throws(() => write({ a: [1] }), /does not match its schema/)
    assert.throws(() => write({ a: ['x', {}] }), /does not match its schema/)
  })

  test('rejects a result that lacks a required property, at every depth', () => {
    const write = cache.serializer({ $ref: 'schema:///Tree' }, tree)
    assert.throws(() => write({ children: [] }), /"name" is required/)
    assert.throws(() => write({ name: 'a', children: [{}] }), /"name" is required/)
  })

  test('with several patterns is checked by each of them', () => {
    const text = (pattern: string) => ({ type: 'string', pattern }) as const
    const properties = { a: text('^a$'), b: text('^b$') }
    const check = cache.validator({ type: 'object', properties }, {}, 'body')
    assert.equal(check({ a: 'a', b: 'b' }), undefined)
    assert.deepEqual(check({ a: 'a', b: 'a' }), [{ path: 'body/b', message: 'must match pattern "^b$"' }])
    const patternProperties = { '^a': { type: 'string' }, '^b': { type: 'number' } } as const
    const checkKeys = cache.validator(
      { type: 'object', patternProperties, propertyNames: { pattern: '^..$' } },
      {},
      'body',
    )
    assert.equal(checkKeys({ a1: 'x', b1: 1 }), undefined)
    assert.deepEqual(checkKeys({ b1: 'x' }), [{ path: 'body/b1', message: 'must be number' }])
    assert.ok(checkKeys({ a: 'x' }))
    const write = cache.serializer({ anyOf: [text('^a$'), { ...text('^b$'), format: 'date' }, { type: 'number' }] }, {})
    assert.equal(write('a'), '"a"')
    assert.throws(() => write('c'))
  })

  test('with a pattern of exponential cost elsewhere is checked in linear time', () => {
    const check = cache.validator({ type: 'string', pattern: '^(a+)+$' }, {}, 'body')
    assert.ok(check(`${'a'.repeat(50_000)}!`))
    assert.equal(check('aaa'), undefined)
    const write = cache.serializer({ anyOf: [{ type: 'string', pattern: '^(a+)+$' }, { type: 'string' }] }, {})
    write(`${'a'.repeat(50_000)}!`)
  })
})

describe('compiled schemas', () => {
  const named = (n: JsonSchema): Named => ({ ...chain, D: { $defs: { n } } })
  const schema = { $ref: 'schema:///A' }

  test('are reused as long as no referenced schema has changed', () => {
    const cache = makeSchemaCache()
    const first = cache.validator(schema, named({ type: 'integer' }), 'body')
    const unrelated = { ...named({ type: 'integer' }), Other: string }
    assert.equal(cache.validator(structuredClone(schema), unrelated, 'body'), first)
    assert.equal(cache.size, 1)
  })

  test('are compiled again when the last schema of a chain of references has changed', () => {
    const cache = makeSchemaCache()
    const before = cache.validator(schema, named({ type: 'integer' }), 'body')
    const after = cache.validator(schema, named({ type: 'string' }), 'body')
    const body = { b: { c: { n: 'x' } } }
    assert.ok(before(body))
    assert.equal(after(body), undefined)
    assert.equal(cache.serializer(schema, named({ type: 'string' }))(body), JSON.stringify(body))
    assert.throws(() => cache.serializer(schema, named({ type: 'integer' }))(body))
  })

  test('are not shared between bodies and coerced parameters', () => {
    const cache = makeSchemaCache()
    const one = { type: 'object', properties: { n: { type: 'integer', default: 3 } } }
    assert.ok(cache.validator(one, {}, 'body')({ n: '1' }))
    const query = { n: '1' }
    assert.equal(cache.validator(one, {}, 'query')(query), undefined)
    assert.deepEqual(query, { n: 1 })
  })

  test('that two consecutive generations did not use are dropped', () => {
    const cache = makeSchemaCache()
    const kept = cache.validator(schema, chain, 'body')
    for (let save = 0; save < 50; save += 1) {
      cache.beginGeneration()
      cache.validator(schema, chain, 'body')
      cache.validator({ type: 'integer', maximum: save }, {}, 'body')
      cache.serializer({ type: 'integer', maximum: save }, {})
    }
    assert.equal(cache.size, 5)
    assert.equal(cache.validator(schema, chain, 'body'), kept)
  })
})
