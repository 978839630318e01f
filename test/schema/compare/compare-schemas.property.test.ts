import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runs } from '../../support/property.ts'
import type { JsonSchema } from '../../../src/contract/index.ts'
import { compareSchemas } from '../../../src/schema/compare/compare-schemas.ts'
import { placeRoot } from '../../../src/schema/placed.ts'
import { anySchema, editedSchema } from './sample-schemas.ts'
import { anyValue, makeCheck, makeDeclaredCheck } from './values.ts'

const count = runs(400)
const named = fc.record({ A: anySchema, B: anySchema }).map((schemas) => ({
  // A reference to itself in the place of a value is no schema; below a property it is.
  A: { type: 'object', properties: { a: schemas.A, b: { $ref: 'schema:///B' } } } as JsonSchema,
  B: { type: ['object', 'null'], properties: { c: schemas.B, a: { $ref: 'schema:///A' } } } as JsonSchema,
}))

test('a schema accepts the values of itself', () => {
  fc.assert(
    fc.property(anySchema, named, (schema, schemas) => {
      const { findings } = compareSchemas(placeRoot(schema, schemas), placeRoot(structuredClone(schema), schemas))
      assert.deepEqual(findings, [])
    }),
    { numRuns: count },
  )
})

for (const isResponse of [false, true]) {
  test(`${isResponse ? 'a response' : 'a request'} reported as compatible is accepted`, () => {
    const seen = { taken: 0, values: 0 }
    fc.assert(
      fc.property(
        editedSchema,
        named,
        fc.array(anyValue, { minLength: 60, maxLength: 60 }),
        ([sub, sup], schemas, values) => {
          const { findings } = compareSchemas(placeRoot(sub, schemas), placeRoot(sup, schemas), { isResponse })
          if (findings.length > 0) return
          seen.taken += 1
          const fits = makeDeclaredCheck(sub, schemas)
          const isTaken = makeCheck(sup, schemas)
          for (const value of values.filter((one) => fits(one))) {
            seen.values += 1
            assert.ok(isTaken(value), JSON.stringify(value))
          }
        },
      ),
      { numRuns: count },
    )
    assert.ok(seen.taken > count / 10 && seen.values > count, `too few to say anything: ${JSON.stringify(seen)}`)
  })
}
