import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong } from '../support/forms.ts'
import { fc } from '../support/property.ts'
import type { JsonSchema } from '../../src/contract/index.ts'
import type { Manifest, ManifestMethod } from '../../src/release/index.ts'
import { makeSchemaCache } from '../../src/runtime/index.ts'
import { compileValidator } from '../../src/runtime/compile-schema.ts'
import { compileSerializer } from '../../src/runtime/compile-serializer.ts'
import { makeWriter } from '../../src/runtime/write-result.ts'

const leaf = fc.constantFrom<JsonSchema>(
  { type: 'string' },
  { type: 'integer' },
  { type: ['string', 'null'] },
  { type: ['integer', 'string'] },
  { type: 'string', format: 'date-time' },
  { type: ['string', 'null'], format: 'date' },
  { enum: ['a', 1, null] },
  { type: 'number', minimum: 0 },
  { type: 'boolean' },
  { type: 'string', maxLength: 2 },
  { const: 'a' },
  {},
  true,
  { $ref: 'schema:///A' },
  { $ref: 'schema:///B' },
)
const schemas = fc.letrec<Record<'any' | 'object' | 'list' | 'combined', JsonSchema>>((tie) => ({
  any: fc.oneof({ maxDepth: 3 }, leaf, tie('object'), tie('list'), tie('combined')),
  object: fc.record(
    {
      type: fc.constantFrom('object', ['object', 'null'], ['object', 'string']),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('any'), { maxKeys: 3 }),
      additionalProperties: fc.oneof(fc.boolean(), tie('any')),
    },
    { requiredKeys: ['type'] },
  ),
  list: fc.record(
    {
      type: fc.constantFrom('array', ['array', 'null']),
      items: tie('any'),
      prefixItems: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['type'] },
  ),
  combined: fc.oneof(
    ...['anyOf', 'oneOf', 'allOf'].map((keyword) =>
      fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((parts) => ({ [keyword]: parts })),
    ),
    fc.record({ type: fc.constant('object'), if: tie('object'), then: tie('object'), else: tie('object') }),
  ),
}))
const values = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>('a', '2026-01-31', 1, null, true),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'secret'), tie('any'), { maxKeys: 3, noNullPrototype: true }),
    fc.array(tie('any'), { maxLength: 3 }),
  ),
}))

test('any schema can be compiled, and a matching result is sent', () => {
  const results = fc.array(values.any, { minLength: 10, maxLength: 10 })
  const property = fc.property(
    fc.record({ schema: schemas.any, A: schemas.object, B: schemas.list, results }),
    ({ schema, A, B, results: all }) => {
      const named = { A, B }
      const check = compileValidator(schema, named, 'result')
      const write = compileSerializer(schema, named)
      for (const result of all) {
        if (check(result) !== undefined) continue
        const written: unknown = JSON.parse(write(result))
        if (typeof result !== 'object' || result === null) assert.equal(written, result)
        else assert.equal(Array.isArray(written), Array.isArray(result))
      }
    },
  )
  fc.assert(property, { numRuns: isLong ? 60 : 20 })
})

class Price {
  readonly a = 1
  toJSON() {
    return 'a'
  }
}
const rawValues = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>('a', '', 'abc', '2026-01-31', 1, 1.5, -1, NaN, Infinity, null, true, undefined),
    fc.constantFrom<unknown>(new Date(0), new Date(NaN), new Date(8e15), () => 1, Symbol('a'), new Price(), /a/),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'secret'), tie('any'), { maxKeys: 3, noNullPrototype: true }),
    fc.array(tie('any'), { maxLength: 3 }),
  ),
}))

test('a result is sent by `serve` as it is by `dev`, or it is an error in both', () => {
  const results = fc.array(rawValues.any, { minLength: 20, maxLength: 20 })
  const property = fc.property(
    fc.record({ schema: schemas.any, A: schemas.object, B: schemas.list, results }),
    ({ schema, A, B, results: all }) => {
      const sources = { manifest: { schemas: { A, B } } as unknown as Manifest, schemas: makeSchemaCache() }
      const method = { responses: { 200: schema } } as unknown as ManifestMethod
      const [inDev, inServe] = [true, false].map((checkResults) => {
        const write = makeWriter({ ...sources, checkResults }, method, 'test')
        return (body: unknown) => {
          try {
            return JSON.parse(write(200, body, undefined).payload as string) as unknown
          } catch (error) {
            return (error as { readonly code: string }).code
          }
        }
      })
      for (const result of all) assert.deepEqual(inServe!(result), inDev!(result))
    },
  )
  fc.assert(property, { numRuns: 60 })
})
