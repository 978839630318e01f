import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../src/contract/index.ts'
import { findContradiction } from '../../src/schema/index.ts'
import { placeRoot } from '../../src/schema/placed.ts'
import { fc, runs } from '../support/property.ts'
import { anySchema } from './compare/sample-schemas.ts'
import { anyValue, makeCheck } from './compare/values.ts'

/** What the sample schemas refer to. */
const named: Readonly<Record<string, JsonSchema>> = {
  A: { type: 'object', properties: { a: { type: 'string' }, b: { $ref: 'schema:///B' } }, required: ['a'] },
  B: { type: ['object', 'null'], properties: { a: { $ref: 'schema:///A' } }, additionalProperties: false },
}

test('no value matches schemas that contradict each other', () => {
  const seen = { contradictions: 0, matches: 0 }
  fc.assert(
    fc.property(
      fc.array(anySchema, { minLength: 1, maxLength: 3 }),
      fc.array(anyValue, { minLength: 60, maxLength: 60 }),
      (schemas, values) => {
        const found = findContradiction({ schemas: schemas.map((schema) => placeRoot(schema, named)) })
        const checks = schemas.map((schema) => makeCheck(schema, named))
        const match = values.find((value) => checks.every((check) => check(value)))
        if (found !== undefined) seen.contradictions += 1
        if (match !== undefined) seen.matches += 1
        if (found !== undefined) assert.equal(match, undefined, `${found.path} ${found.reason}`)
      },
    ),
    { numRuns: runs(1200), seed: 20261128 },
  )
  assert.ok(seen.contradictions > 20 && seen.matches > 20, JSON.stringify(seen))
})
