import { compilePattern } from '../../kit/index.ts'
import {
  isScopedObject,
  scopeList,
  scopeMap,
  scopeIn,
  expand,
  type Keywords,
  type ScopedSchema,
} from '../scoped-schema.ts'

type Sub = ScopedSchema & { readonly schema: Keywords }

/** Returns the names of the fields that the schemas declare, including schemas that may apply to the same value. */
export function declaredNames(schemas: readonly ScopedSchema[]): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const visit = (list: readonly ScopedSchema[]): void => {
    for (const scoped of expand(list)) {
      if (!isScopedObject(scoped) || seen.has(scoped.schema)) continue
      seen.add(scoped.schema)
      for (const name of scopeMap(scoped, scoped.schema['properties']).keys()) names.add(name)
      visit(adjacentSchemas(scoped))
    }
  }
  visit(schemas)
  return names
}

/** Returns the schemas that may apply to the same value. */
function adjacentSchemas(scoped: Sub): readonly ScopedSchema[] {
  const { schema } = scoped
  const single = ['if', 'then', 'else', 'not'].flatMap((key) => (key in schema ? [scopeIn(scoped, schema[key])] : []))
  const lists = ['anyOf', 'oneOf'].flatMap((key) => scopeList(scoped, schema[key]))
  return [...single, ...lists, ...scopeMap(scoped, schema['dependentSchemas']).values()]
}

/** Whether a schema that may apply to the same value explicitly accepts undeclared fields. */
export function acceptsOtherFields(schemas: readonly ScopedSchema[]): boolean {
  const seen = new Set<unknown>()
  const visit = (list: readonly ScopedSchema[]): boolean =>
    expand(list).some((scoped) => {
      if (!isScopedObject(scoped) || seen.has(scoped.schema)) return false
      seen.add(scoped.schema)
      const { additionalProperties, patternProperties } = scoped.schema
      if (![undefined, false].includes(additionalProperties as undefined) || patternProperties !== undefined)
        return true
      return visit(adjacentSchemas(scoped))
    })
  return visit(schemas.filter(isScopedObject).flatMap(adjacentSchemas))
}

/** Returns the schemas that a field of this name must match according to one schema; empty if it has none. */
export function fieldOf(scoped: Sub, name: string): readonly ScopedSchema[] {
  const { schema } = scoped
  const own = scopeMap(scoped, schema['properties']).get(name)
  const matching = [...scopeMap(scoped, schema['patternProperties'])].filter(([pattern]) => isMatch(pattern, name))
  const found = [...(own === undefined ? [] : [own]), ...matching.map(([, one]) => one)]
  if (found.length > 0 || schema['additionalProperties'] === undefined) return found
  return [scopeIn(scoped, schema['additionalProperties'])]
}

function isMatch(pattern: string, name: string): boolean {
  try {
    return compilePattern(pattern).test(name)
  } catch {
    return false
  }
}
