import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runs } from '../../support/property.ts'
import type { JsonSchema } from '../../../src/contract/index.ts'
import { compareManifests, type Manifest } from '../../../src/release/index.ts'
import { anySchema, editedSchema } from '../../schema/compare/sample-schemas.ts'
import { anyValue, makeCheck, makeDeclaredCheck } from '../../schema/compare/values.ts'
import { makeManifest } from './manifests.ts'

const count = runs(150)

/** Two schemas that refer to each other below their fields. */
const around = (a: JsonSchema, b: JsonSchema): Record<string, JsonSchema> => ({
  A: { type: 'object', properties: { a, b: { $ref: 'schema:///B' } } },
  B: { type: ['object', 'null'], properties: { c: b, a: { $ref: 'schema:///A' } } },
})

test('a manifest does not differ from itself', () => {
  fc.assert(
    fc.property(anySchema, anySchema, anySchema, (schema, a, b) => {
      const manifest = makeManifest(
        { request: schema, query: schema, responses: { 200: schema } },
        { schemas: around(a, b), events: { made: { schema } } },
      )
      assert.deepEqual(compareManifests(manifest, structuredClone(manifest)), [])
    }),
    { numRuns: count },
  )
})

for (const way of ['request', 'response'] as const) {
  test(`a harmless change of a ${way} schema is compatible for all values, through all references`, () => {
    const seen = { harmless: 0, values: 0 }
    const place = (schema: JsonSchema, schemas: Record<string, JsonSchema>): Manifest =>
      makeManifest(way === 'request' ? { request: schema } : { responses: { 200: schema } }, { schemas })
    fc.assert(
      fc.property(
        fc.tuple(editedSchema, editedSchema, editedSchema),
        fc.array(anyValue, { minLength: 60, maxLength: 60 }),
        ([[before, after], [a, otherA], [b, otherB]], values) => {
          const [old, now] = [around(a, b), around(otherA, otherB)]
          const changes = compareManifests(place(before, old), place(after, now))
          if (changes.some(({ breaking }) => breaking)) return
          seen.harmless += 1
          const [sent, taken] =
            way === 'request'
              ? [
                  { schema: before, named: old },
                  { schema: after, named: now },
                ]
              : [
                  { schema: after, named: now },
                  { schema: before, named: old },
                ]
          const fits = makeDeclaredCheck(sent.schema, sent.named)
          const isTaken = makeCheck(taken.schema, taken.named)
          for (const value of values.filter((one) => fits(one))) {
            seen.values += 1
            assert.ok(isTaken(value), JSON.stringify(value))
          }
        },
      ),
      { numRuns: count },
    )
    assert.ok(seen.harmless > count / 20 && seen.values > count / 4, `too few to say anything: ${JSON.stringify(seen)}`)
  })
}
