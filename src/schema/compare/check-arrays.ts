import { reportKeyword } from './check-numbers.ts'
import { checkCount } from './check-strings.ts'
import type { Check } from './comparator.ts'
import { scopeList, scopeIn, type Keywords, type ScopedSchema } from '../scoped-schema.ts'

export function checkArrays(check: Check): void {
  const { types, subs, sup } = check
  if (!types.has('array')) return
  checkCount(check, ['minItems', 'maxItems'])
  const isUnique = subs.some(({ schema }) => schema['uniqueItems'] === true)
  if (sup.schema['uniqueItems'] === true && !isUnique) reportKeyword(check, 'uniqueItems')
  if (sup.schema['prefixItems'] === undefined && sup.schema['items'] === undefined) return
  const tupleLength = Math.max(...[...subs, sup].map(({ schema }) => lengthOf(schema['prefixItems'])))
  const maxItems = Math.min(...subs.map(({ schema }) => numberOf(schema['maxItems'])))
  for (let index = 0; index <= tupleLength && index < maxItems; index += 1) {
    const path = `${check.path}[${index < tupleLength ? index : ''}]`
    const items = subs.map((sub) => itemAt(sub, index))
    check.comparator.compare(items, itemAt(sup, index), path)
  }
}

/** Returns the schema of the item at an index. All items after the tuple have the same schema. */
function itemAt(scoped: ScopedSchema & { readonly schema: Keywords }, index: number): ScopedSchema {
  return scopeList(scoped, scoped.schema['prefixItems'])[index] ?? scopeIn(scoped, scoped.schema['items'])
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY
}
