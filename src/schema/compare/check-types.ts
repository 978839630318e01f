import { isDeepStrictEqual } from 'node:util'
import type { Check } from './comparer.ts'
import { listedValues, ownTypes } from './types-and-values.ts'

export function checkTypes({ comparer, path, subs, sup, types }: Check): void {
  if (sup.schema['type'] === undefined) return
  const accepted = ownTypes(sup.schema)
  const rejected = [...types].filter((type) => !accepted.has(type) && !(comparer.isCoerced && isText(type, accepted)))
  if (rejected.length === 0) return
  const sub = subs.map(({ schema }) => schema['type']).find((type) => type !== undefined)
  comparer.report({ path, keyword: 'type', sub, sup: sup.schema['type'] })
}

/** Returns true if a value of this type, which arrives as text, is accepted as a string. */
function isText(type: string, accepted: ReadonlySet<string>): boolean {
  return accepted.has('string') && ['integer', 'number', 'boolean'].includes(type)
}

export function checkValues({ comparer, path, subs, sup, values }: Check): void {
  const accepted = listedValues(sup.schema)
  if (accepted === undefined) return
  const rejected = values?.filter((value) => !accepted.some((one) => isDeepStrictEqual(one, value)))
  if (rejected?.length === 0) return
  const sub = subs.map(({ schema }) => listedValues(schema)).find((listed) => listed !== undefined)
  comparer.report({ path, keyword: 'enum', sub, sup: accepted })
}
