import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Ajv, type AnySchema, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { fc, runs } from '../support/property.ts'
import type { JsonSchema } from '../../src/contract/index.ts'
import { formats } from '../../src/definition/schema-language.ts'
import { compileDefinition } from './compile-definition.ts'
import { loadFiles, showProblem } from './project.ts'

/**
 * Ajv's strict mode, except what Waypost allows or checks better: union types, `required` across references, names that
 * also match a pattern, and `$anchor`, which Ajv follows but does not list.
 */
const strict: Options = {
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  allowMatchingProperties: true,
  keywords: ['$anchor'],
  logger: false,
}

const value = fc.oneof(
  fc.constantFrom('a', '', 'string', 'object', '#/$defs/a', '^a+$', '[', true, false, null),
  fc.integer({ min: -2, max: 3 }),
)
const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'object', 'array', 'null', 'text')
const count = fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: value })
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 })

const { schema } = fc.letrec((tie) => {
  const sub = tie('schema')
  const subs = fc.array(sub, { minLength: 0, maxLength: 2 })
  const subMap = fc.dictionary(fc.constantFrom('a', 'b', '^a'), sub, { maxKeys: 2 })
  const keywords = {
    type: fc.oneof(type, fc.uniqueArray(type, { maxLength: 2 })),
    enum: fc.array(value, { maxLength: 2 }),
    const: value,
    format: fc.constantFrom('date', 'email', 'dates', 'int32'),
    pattern: fc.constantFrom('^a', '[', '\\d+', '\\p{x}'),
    multipleOf: count,
    ...Object.fromEntries(
      ['minimum', 'maximum', 'exclusiveMinimum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties'].map(
        (name) => [name, count],
      ),
    ),
    minContains: count,
    maxContains: count,
    uniqueItems: fc.boolean(),
    required: names,
    dependentRequired: fc.dictionary(fc.constantFrom('a', 'b'), names, { maxKeys: 2 }),
    ...Object.fromEntries(['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((name) => [name, subs])),
    ...Object.fromEntries(
      ['not', 'if', 'then', 'else', 'items', 'contains', 'additionalProperties', 'propertyNames'].map((name) => [
        name,
        sub,
      ]),
    ),
    unevaluatedProperties: sub,
    unevaluatedItems: sub,
    ...Object.fromEntries(
      ['properties', 'patternProperties', 'dependentSchemas', '$defs'].map((name) => [name, subMap]),
    ),
    $ref: fc.constantFrom('#', '#/$defs/a', '#/properties/b', '#/$defs', '#x'),
    $anchor: fc.constant('x'),
    title: value,
    examples: fc.array(value, { maxLength: 1 }),
    deprecated: fc.boolean(),
    unknown: value,
  }
  const one = fc
    .subarray(Object.keys(keywords) as (keyof typeof keywords)[], { minLength: 0, maxLength: 3 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, keywords[name]]))))
  return {
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.boolean(),
      one,
      fc.record({ type, ...pick(keywords, 'properties', 'items') }, { requiredKeys: ['type'] }),
    ),
  }
})

function pick(
  keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  ...chosen: string[]
): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(chosen.map((name) => [name, keywords[name]!]))
}

function isAccepted(ajv: Ajv, schema: AnySchema): boolean {
  try {
    ajv.compile(schema)
    return true
  } catch {
    return false
  } finally {
    if (typeof schema === 'object') ajv.removeSchema(schema)
  }
}

/** Checks the schemas of a definition, which have the types that other keywords imply. */
function isAcceptedWith(schemas: Readonly<Record<string, JsonSchema>>): boolean {
  const ajv = withFormats(new Ajv2020(strict))
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, `schema:///${name}`)
  return Object.keys(schemas).every((name) => isAccepted(ajv, { $ref: `schema:///${name}` }))
}

function withFormats<Instance extends Ajv>(ajv: Instance): Instance {
  addFormats.default(ajv)
  return ajv
}

suite('JSON Schema', () => {
  test('a schema without a diagnostic compiles, and Ajv in strict mode accepts it', async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(schema, async (schema) => {
        const { definition, diagnostics } = await loadFiles({
          'waypost.yml': 'schema:\n  A: !include a.json\n',
          'a.json': JSON.stringify(schema),
        })
        if (definition === undefined) return assert.notEqual(diagnostics.length, 0)
        accepted += 1
        compileDefinition(definition)
        assert.ok(isAcceptedWith(definition.schemas), 'Ajv is stricter')
      }),
      { numRuns: runs(500), seed: 20261120 },
    )
    assert.ok(accepted > runs(50), `only ${accepted} schemas were accepted`)
  })

  test('the known formats are those of ajv-formats, and decimal', () => {
    assert.deepEqual([...formats].toSorted(), [...Object.keys(fullFormats), 'decimal'].toSorted())
  })

  const good: Readonly<Record<string, object>> = {
    'a union of types': { type: ['string', 'null'], maxLength: 3 },
    'an integer with what is for numbers': { type: 'integer', minimum: 0, multipleOf: 5, format: 'int32' },
    'a type that comes from around': { type: 'object', anyOf: [{ required: ['a'] }], properties: { a: true } },
    'a closed tuple': { type: 'array', prefixItems: [true], minItems: 1, items: false },
    'a condition': { type: 'object', properties: { a: true }, if: { required: ['a'] }, then: { minProperties: 2 } },
    'a dictionary': {
      type: 'object',
      additionalProperties: { type: 'integer' },
      propertyNames: { pattern: '^a', type: 'string' },
    },
    annotations: {
      title: 'A',
      description: 'B',
      default: 1,
      examples: [1],
      deprecated: true,
      readOnly: true,
      writeOnly: false,
    },
    'a class in a pattern that looks like look-around': { type: 'string', pattern: '[(?=]\\(?!' },
  }
  for (const [name, schema] of Object.entries(good)) {
    test(`accepts ${name}`, async () => {
      const { diagnostics } = await loadFiles({
        'waypost.yml': 'schema:\n  A: !include a.json\n',
        'a.json': JSON.stringify(schema),
      })
      assert.deepEqual(diagnostics.map(showProblem), [])
    })
  }

  test('a schema accepted as draft-07 is accepted by Ajv as draft-07 too', async () => {
    const draft07 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: [{ type: 'string' }],
      minItems: 1,
      additionalItems: false,
      contains: { const: 'a' },
    }
    const files = { 'waypost.yml': 'schema:\n  A: !include a.json\n', 'a.json': JSON.stringify(draft07) }
    assert.deepEqual((await loadFiles(files)).diagnostics, [])
    assert.ok(isAccepted(withFormats(new Ajv(strict)), draft07))
  })
})
