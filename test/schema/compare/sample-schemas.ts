import { fc } from '../../support/property.ts'
import type { JsonSchema } from '../../../src/contract/index.ts'

type Keywords = Record<string, unknown>

/** Schemas of few names and small numbers, so that two of them often have something to do with one another. */
export const anySchema: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const sub = tie('schema')
  const subs = fc.array(sub, { minLength: 1, maxLength: 3 })
  const count = fc.nat(3)
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 })
  const optional = <Shape extends Keywords>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }) =>
    fc.record(shape, { requiredKeys: [] }) as fc.Arbitrary<JsonSchema>
  const whole = fc.integer({ min: -2, max: 4 })
  return {
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<JsonSchema>({ type: 'string' }, { type: 'integer' }, { type: ['string', 'null'] }, {}),
      fc.constantFrom<JsonSchema>({ $ref: 'schema:///A' }, { $ref: 'schema:///B' }, true),
      optional({ type: fc.constantFrom('integer', 'number'), minimum: whole, maximum: whole, exclusiveMinimum: whole }),
      optional({ type: fc.constant('integer'), multipleOf: fc.constantFrom(1, 2, 4) }),
      optional({ type: fc.constantFrom('integer', 'number'), multipleOf: fc.constantFrom(0.1, 0.01, 0.5, 3) }),
      optional({
        type: fc.constant('string'),
        minLength: count,
        maxLength: count,
        pattern: fc.constantFrom('^a', 'b$'),
      }),
      optional({ enum: fc.uniqueArray(fc.constantFrom<unknown>('a', 'ab', 1, 2, null, true), { minLength: 1 }) }),
      optional({ const: fc.constantFrom<unknown>('a', 1, false) }),
      optional({ type: fc.constant('array'), items: sub, prefixItems: subs, minItems: count, maxItems: count }),
      optional({ type: fc.constant('array'), contains: sub, uniqueItems: fc.boolean() }),
      objectOf(sub, names),
      objectOf(sub, names),
      fc.record({ anyOf: subs }),
      fc.record({ oneOf: subs }),
      fc.record({ allOf: subs }),
      fc.tuple(objectOf(sub, names), fc.constantFrom('anyOf', 'oneOf', 'allOf'), subs).map(([own, key, list]) => ({
        ...(own as Keywords),
        [key]: list,
      })),
      optional({ type: fc.constant('object'), not: sub }),
      optional({ if: sub, then: sub, else: sub }),
    ),
  }
}).schema

function objectOf(sub: fc.Arbitrary<JsonSchema>, names: fc.Arbitrary<string[]>): fc.Arbitrary<JsonSchema> {
  return fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'ab'), sub, { maxKeys: 3 }),
      required: names,
      additionalProperties: fc.oneof(fc.boolean(), sub),
      patternProperties: fc.dictionary(fc.constantFrom('^a', '^c'), sub, { maxKeys: 1 }),
      minProperties: fc.nat(2),
      maxProperties: fc.nat(3),
      propertyNames: fc.constantFrom<JsonSchema>({ maxLength: 1 }, { maxLength: 2 }),
      dependentRequired: fc.constantFrom({ a: ['b'] }, { c: ['a'] }),
    },
    { requiredKeys: ['type', 'properties'] },
  ) as fc.Arbitrary<JsonSchema>
}

/** A schema and what somebody made of it by a few edits. */
export const editedSchema: fc.Arbitrary<readonly [JsonSchema, JsonSchema]> = fc
  .tuple(anySchema, fc.array(fc.tuple(fc.nat(60), fc.nat(11), anySchema), { maxLength: 2 }))
  .map(([schema, edits]) => {
    let edited = structuredClone(schema)
    for (const [place, kind, other] of edits) edited = edit(edited, { place, kind, other: structuredClone(other) })
    return [schema, edited]
  })

interface Edit {
  readonly place: number
  readonly kind: number
  readonly other: JsonSchema
}

/** Changes one of the places of a schema. */
function edit(schema: JsonSchema, { place, kind, other }: Edit): JsonSchema {
  const holder = { root: schema }
  const places = listPlaces(holder, 'root')
  const [parent, key] = places[place % places.length]!
  const old = parent[key]
  if (kind < 2 || typeof old !== 'object' || old === null) parent[key] = other
  else parent[key] = changes[kind - 2]!(old as Keywords, other)
  return holder.root
}

const changes: readonly ((schema: Keywords, other: JsonSchema) => unknown)[] = [
  (schema) => ({ ...schema, required: ['a'] }),
  ({ required: _, ...rest }) => rest,
  ({ maximum: _, maxLength: __, maxItems: ___, ...rest }) => rest,
  (schema, other) => ({ ...schema, properties: { ...(schema['properties'] as object), b: other } }),
  (schema) => ({ ...schema, additionalProperties: false }),
  ({ additionalProperties: _, ...rest }) => rest,
  (schema, other) => ({ anyOf: [other, schema] }),
  (schema, other) => ({ ...schema, oneOf: [schema, other] }),
  (schema) => ({ allOf: [schema] }),
  ({ enum: list, ...rest }) =>
    Array.isArray(list) ? { ...rest, enum: [...(list as unknown[]), 'ab'] } : { ...rest, minLength: 1 },
]

function listPlaces(parent: Keywords, key: string): [Keywords, string][] {
  const found: [Keywords, string][] = [[parent, key]]
  const schema = parent[key] as Keywords
  if (typeof schema !== 'object' || schema === null) return found
  for (const one of ['properties', 'patternProperties']) {
    const map = schema[one] as Keywords | undefined
    for (const name of Object.keys(map ?? {})) found.push(...listPlaces(map!, name))
  }
  for (const one of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    if (Array.isArray(schema[one]))
      (schema[one] as unknown[]).forEach((_, index) =>
        found.push(...listPlaces(schema[one] as Keywords, String(index))),
      )
  for (const one of ['items', 'additionalProperties', 'not', 'contains'])
    if (one in schema) found.push(...listPlaces(schema, one))
  return found
}
