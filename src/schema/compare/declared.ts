import { compilePattern } from '../../kit/index.ts'
import { isPlacedObject, listIn, mapIn, placeIn, spread, type Keywords, type Placed } from '../placed.ts'

type Sub = Placed & { readonly schema: Keywords }

/** Returns the names of the fields that the schemas or their conditional subschemas declare. */
export function declaredNames(schemas: readonly Placed[]): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const visit = (list: readonly Placed[]): void => {
    for (const placed of spread(list)) {
      if (!isPlacedObject(placed) || seen.has(placed.schema)) continue
      seen.add(placed.schema)
      for (const name of mapIn(placed, placed.schema['properties']).keys()) names.add(name)
      visit(conditionalSchemas(placed))
    }
  }
  visit(schemas)
  return names
}

/** Returns the subschemas that may apply to the same value, for example `if` and `anyOf`. */
function conditionalSchemas(placed: Sub): readonly Placed[] {
  const { schema } = placed
  const single = ['if', 'then', 'else', 'not'].flatMap((key) => (key in schema ? [placeIn(placed, schema[key])] : []))
  const lists = ['anyOf', 'oneOf'].flatMap((key) => listIn(placed, schema[key]))
  return [...single, ...lists, ...mapIn(placed, schema['dependentSchemas']).values()]
}

/** Returns true if a conditional subschema explicitly allows undeclared fields. */
export function mayAllowUndeclared(schemas: readonly Placed[]): boolean {
  const seen = new Set<unknown>()
  const visit = (list: readonly Placed[]): boolean =>
    spread(list).some((placed) => {
      if (!isPlacedObject(placed) || seen.has(placed.schema)) return false
      seen.add(placed.schema)
      const { additionalProperties, unevaluatedProperties, patternProperties } = placed.schema
      const rest = [additionalProperties ?? false, unevaluatedProperties ?? false]
      if (rest.some((one) => one !== false) || patternProperties !== undefined) return true
      return visit(conditionalSchemas(placed))
    })
  return visit(schemas.filter(isPlacedObject).flatMap(conditionalSchemas))
}

/** Returns the schemas that a field must match; empty if the schema does not restrict the field. */
export function fieldOf(placed: Sub, name: string): readonly Placed[] {
  const { schema } = placed
  const own = mapIn(placed, schema['properties']).get(name)
  const matching = [...mapIn(placed, schema['patternProperties'])].filter(([pattern]) => isMatch(pattern, name))
  const found = [...(own === undefined ? [] : [own]), ...matching.map(([, one]) => one)]
  if (found.length > 0 || schema['additionalProperties'] === undefined) return found
  return [placeIn(placed, schema['additionalProperties'])]
}

function isMatch(pattern: string, name: string): boolean {
  try {
    return compilePattern(pattern).test(name)
  } catch {
    return false
  }
}
