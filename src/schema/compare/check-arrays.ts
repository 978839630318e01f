import { reportKeyword } from './check-numbers.ts'
import { checkCount } from './check-strings.ts'
import type { Check } from './comparer.ts'
import { listIn, placeIn, type Keywords, type Placed } from '../placed.ts'

export function checkArrays(check: Check): void {
  const { types, subs, sup } = check
  if (!types.has('array')) return
  checkCount(check, ['minItems', 'maxItems'])
  const isUnique = subs.some(({ schema }) => schema['uniqueItems'] === true)
  if (sup.schema['uniqueItems'] === true && !isUnique) reportKeyword(check, 'uniqueItems')
  if (sup.schema['prefixItems'] === undefined && sup.schema['items'] === undefined) return
  const prefixLength = Math.max(...[...subs, sup].map(({ schema }) => lengthOf(schema['prefixItems'])))
  const maxLength = Math.min(...subs.map(({ schema }) => numberOf(schema['maxItems'])))
  for (let index = 0; index <= prefixLength && index < maxLength; index += 1) {
    const path = `${check.path}[${index < prefixLength ? index : ''}]`
    const items = subs.map((sub) => itemAt(sub, index))
    check.comparer.compare(items, itemAt(sup, index), path)
  }
}

/** Returns the schema of the item at an index: from `prefixItems`, otherwise `items`. */
function itemAt(placed: Placed & { readonly schema: Keywords }, index: number): Placed {
  return listIn(placed, placed.schema['prefixItems'])[index] ?? placeIn(placed, placed.schema['items'])
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY
}
