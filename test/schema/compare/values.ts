import { fc } from '../../support/property.ts'
import { _, Ajv2020, Name } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { JsonSchema } from '../../../src/contract/index.ts'
import { useExactKeywords } from '../../../src/kit/index.ts'

type Keywords = Record<string, unknown>
type Named = Readonly<Record<string, JsonSchema>>

/** Values of which many fit one or other of the sample schemas; `zz` is a field that no schema declares. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.constantFrom<unknown>('', 'a', 'ab', 'b', 'abb', null, true, false, 1.5, 0.3, 0.07),
    fc.integer({ min: -2, max: 5 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'ab', 'zz'), tie('value'), { maxKeys: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom<unknown>('a', 1, null, 'ab', {}), { maxKeys: 3 }),
  ),
})).value

/** A check of values by a schema, as Ajv has it. */
export function makeCheck(schema: JsonSchema, named: Named): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false })
  ajvFormats.default(ajv)
  useExactKeywords(ajv, { _, Name })
  for (const [name, one] of Object.entries(named)) ajv.addSchema(one, `schema:///${name}`)
  return ajv.compile(schema as object)
}

/** A check that also refuses fields, but for `zz`, that the schema does not declare for their object. */
export function makeDeclaredCheck(schema: JsonSchema, named: Named): (value: unknown) => boolean {
  const check = makeCheck(
    close(schema),
    Object.fromEntries(Object.entries(named).map(([name, one]) => [name, closeParts(one)])),
  )
  return (value) => {
    try {
      return check(value)
    } catch {
      return false // Ajv fails with some unevaluatedProperties below an if
    }
  }
}

function close(schema: JsonSchema): JsonSchema {
  return {
    allOf: [closeParts(schema)],
    patternProperties: { '^zz$': true },
    unevaluatedProperties: false,
  }
}

/** Closes what stands for another value than the schema itself. */
function closeParts(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const mapValues = (map: unknown, change: (one: JsonSchema) => JsonSchema) =>
    Object.fromEntries(Object.entries(map as Record<string, JsonSchema>).map(([key, one]) => [key, change(one)]))
  const closed: Keywords = { ...schema }
  for (const key of ['properties', 'patternProperties']) if (key in schema) closed[key] = mapValues(schema[key], close)
  for (const key of ['items', 'additionalProperties'])
    if (key in schema && schema[key] !== false) closed[key] = close(schema[key] as JsonSchema)
  if ('prefixItems' in schema) closed['prefixItems'] = (schema['prefixItems'] as JsonSchema[]).map(close)
  for (const key of ['anyOf', 'oneOf', 'allOf'])
    if (key in schema) closed[key] = (schema[key] as JsonSchema[]).map(closeParts)
  for (const key of ['then', 'else']) if (key in schema) closed[key] = closeParts(schema[key] as JsonSchema)
  return closed
}
