import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonSchema } from '../../src/contract/index.ts'
import { compileValidator } from '../../src/runtime/compile-schema.ts'
import { compileSerializer } from '../../src/runtime/compile-serializer.ts'
import { withoutPrototypes } from '../../src/runtime/object-names.ts'

interface Group {
  readonly what: string
  readonly schema: JsonSchema
  /** JSON texts, because a literal with \`__proto__\` would set the prototype. */
  readonly fits: readonly string[]
  readonly misfits: readonly string[]
}

// The groups of the JSON Schema Test Suite about names of JavaScript objects, and the same for other keywords.
const groups: readonly Group[] = [
  {
    what: 'properties',
    schema: JSON.parse(`{
      "type": "object",
      "properties": {
        "__proto__": { "type": "number" },
        "toString": { "type": "object", "properties": { "length": { "type": "string" } } },
        "constructor": { "type": "number" }
      }
    }`) as JsonSchema,
    fits: ['{}', '{ "__proto__": 12, "toString": { "length": "foo" }, "constructor": 37 }', '{ "other": "__proto__" }'],
    misfits: ['{ "__proto__": "foo" }', '{ "toString": { "length": 37 } }', '{ "constructor": { "length": 37 } }'],
  },
  {
    what: 'required',
    schema: { type: 'object', required: ['__proto__', 'toString', 'constructor'] },
    fits: ['{ "__proto__": 12, "toString": { "length": "foo" }, "constructor": 37 }'],
    misfits: [
      '{}',
      '{ "__proto__": "foo" }',
      '{ "toString": { "length": 37 } }',
      '{ "constructor": { "length": 37 } }',
      '{ "toString": 1, "constructor": 1 }',
    ],
  },
  {
    what: 'dependentRequired',
    schema: { type: 'object', dependentRequired: { valueOf: ['name'], name: ['isPrototypeOf'] } },
    fits: ['{}', '{ "valueOf": 1, "name": 1, "isPrototypeOf": 1 }'],
    misfits: ['{ "valueOf": 1 }', '{ "name": 1 }'],
  },
  {
    what: 'dependentSchemas',
    schema: { type: 'object', dependentSchemas: { toString: { required: ['valueOf'] } } },
    fits: ['{}', '{ "toString": 1, "valueOf": 1 }'],
    misfits: ['{ "toString": 1 }'],
  },
  {
    what: 'additionalProperties',
    schema: { type: 'object', properties: { toString: { type: 'string' } }, additionalProperties: false },
    fits: ['{}', '{ "toString": "a" }'],
    misfits: ['{ "valueOf": 1 }', '{ "__proto__": 1 }'],
  },
  {
    what: 'unevaluatedProperties',
    schema: { type: 'object', properties: { constructor: { type: 'string' } }, unevaluatedProperties: false },
    fits: ['{}', '{ "constructor": "a" }'],
    misfits: ['{ "valueOf": 1 }', '{ "constructor": 1 }'],
  },
  {
    what: 'patternProperties and propertyNames',
    schema: { type: 'object', patternProperties: { Of$: { type: 'string' } }, propertyNames: { enum: ['valueOf'] } },
    fits: ['{}', '{ "valueOf": "a" }'],
    misfits: ['{ "valueOf": 1 }', '{ "toString": "a" }'],
  },
]

for (const { what, schema, fits, misfits } of groups) {
  describe(`names of Object.prototype in ${what}`, () => {
    for (const part of ['body', 'result', 'data'] as const) {
      test(`are own properties in a ${part}`, () => {
        const check = compileValidator(schema, {}, part)
        for (const text of fits) assert.equal(check(JSON.parse(text)), undefined, text)
        for (const text of misfits) assert.notEqual(check(JSON.parse(text)), undefined, text)
      })
    }
  })
}

test('a result is written with its own properties only', () => {
  const properties = { year: { type: 'integer' }, constructor: { type: 'string' }, valueOf: {} }
  const schema = { type: 'object', required: ['year'], properties }
  const entry = { type: 'object', properties: { toString: schema } }
  const list = { type: 'array', items: { $ref: 'schema:///Entry' } }
  const write = compileSerializer({ type: 'object', properties: { entry: list } }, { Entry: entry })
  assert.equal(compileSerializer(schema, {})({ year: 1, other: 1 }), '{"year":1}')
  assert.equal(
    write({ entry: [{}, { toString: { year: 1, constructor: 'a' } }] }),
    '{"entry":[{},{"toString":{"year":1,"constructor":"a"}}]}',
  )
  const required = compileSerializer({ type: 'object', required: ['toString'], properties: { toString: {} } }, {})
  assert.throws(() => required({}))
  assert.equal(required({ toString: 1 }), '{"toString":1}')
})

test('a copy without prototypes keeps times and large numbers for their schemas', () => {
  const at = new Date(0)
  class Row {
    id = 1n
    list = [{ at }]
    hidden = { toJSON: () => ({ at }) }
  }
  const copy = withoutPrototypes(new Row()) as Row & { readonly hidden: object }
  assert.equal(copy.id, 1n)
  for (const one of [copy, copy.list[0]!, copy.hidden]) assert.equal('constructor' in one, false)
  assert.equal(copy.list[0]!.at, at)
})
