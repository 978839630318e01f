import type { JsonSchema } from '../contract/index.ts'
import { followReference, type NamedSchemas, type SchemaRoot } from '../schema/index.ts'
import { collectProperties } from './openapi/collect-properties.ts'

/** With `explode: false`, as in OpenAPI, a list in the query is also sent as one text with commas. */
export const explodeKeyword = 'explode'

interface Problem {
  readonly path: string
  readonly message: string
}

type Check = (value: unknown) => readonly Problem[] | undefined

/** Splits lists that are sent as one text, before they are checked. */
export function withLists(check: Check, schema: JsonSchema, named: NamedSchemas): Check {
  if (!JSON.stringify([schema, named]).includes(`"${explodeKeyword}":false`)) return check
  const names = [...collectProperties({ schema, name: '' }, named)].flatMap(([name, { parts }]) =>
    parts.some((part) => isSplit(part.schema, part.root, named)) ? [name] : [],
  )
  if (names.length === 0) return check
  return (value) => {
    const values = value as Record<string, unknown>
    for (const name of names)
      if (Object.hasOwn(values, name)) values[name] = [values[name]].flat().flatMap((one) => String(one).split(','))
    return check(value)
  }
}

const maxReferences = 50

/** Whether a schema, or one that it refers to, is that of a list with commas. */
function isSplit(schema: JsonSchema, root: SchemaRoot, named: NamedSchemas): boolean {
  let found = { schema, root }
  for (let hops = 0; hops < maxReferences && typeof found.schema !== 'boolean'; hops++) {
    if (isSentWithCommas(found.schema)) return true
    const { $ref: reference } = found.schema
    const target = typeof reference === 'string' ? followReference(reference, found.root, named) : undefined
    if (target === undefined) return false
    found = target
  }
  return false
}

export function isSentWithCommas(schema: JsonSchema): boolean {
  return typeof schema !== 'boolean' && schema[explodeKeyword] === false
}
