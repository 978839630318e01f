import { isDeepStrictEqual } from 'node:util'
import { declaredNames, fieldOf } from './declared.ts'
import { isPlacedObject, spread, type Placed } from '../placed.ts'
import { typesOf, valuesOf } from './types-and-values.ts'

const mostLevels = 4

/** Whether it is sure that no value is taken both by these schemas together and by another one. */
export function areDisjoint(subs: readonly Placed[], other: Placed, level = 0): boolean {
  const [ours, theirs] = [spread(subs), spread([other])]
  if ([...ours, ...theirs].some(({ schema }) => schema === false)) return true
  const [a, b] = [ours.filter(isPlacedObject), theirs.filter(isPlacedObject)]
  const keywords = [...a, ...b].map(({ schema }) => schema)
  const common = typesOf(keywords)
  if (common.size === 0) return true
  const [own, alien] = [a, b].map((list) => listValues(list))
  if (
    own !== undefined &&
    alien !== undefined &&
    !own.some((value) => alien.some((one) => isDeepStrictEqual(one, value)))
  )
    return true
  if (common.size > 1 || !common.has('object') || level >= mostLevels) return false
  const required = [a, b].map((list) => new Set(list.flatMap(({ schema }) => (schema['required'] ?? []) as string[])))
  return [...declaredNames([...a, ...b])].some((name) => {
    const [here, there] = [a, b].map((list) => list.flatMap((one) => fieldOf(one, name)))
    if ([...here!, ...there!].some(({ schema }) => schema === false)) return required.some((names) => names.has(name))
    if (!required.every((names) => names.has(name)) || there!.length === 0) return false
    return there!.some((one) => areDisjoint(here!, one, level + 1))
  })
}

function listValues(list: readonly (Placed & { readonly schema: Readonly<Record<string, unknown>> })[]) {
  const schemas = list.map(({ schema }) => schema)
  return valuesOf(schemas, typesOf(schemas))
}
