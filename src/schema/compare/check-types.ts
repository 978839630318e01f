import { isDeepStrictEqual } from 'node:util'
import type { Check } from './comparing.ts'
import { listedValues, ownTypes } from './types-and-values.ts'

export function checkTypes({ comparing, path, subs, sup, types }: Check): void {
  if (sup.schema['type'] === undefined) return
  const taken = ownTypes(sup.schema)
  const refused = [...types].filter((type) => !taken.has(type) && !(comparing.isCoerced && isText(type, taken)))
  if (refused.length === 0) return
  const sub = subs.map(({ schema }) => schema['type']).find((type) => type !== undefined)
  comparing.report({ path, keyword: 'type', sub, sup: sup.schema['type'] })
}

/** Returns true if a value of this type, which arrives as text, is accepted as a string. */
function isText(type: string, taken: ReadonlySet<string>): boolean {
  return taken.has('string') && ['integer', 'number', 'boolean'].includes(type)
}

export function checkValues({ comparing, path, subs, sup, values }: Check): void {
  const taken = listedValues(sup.schema)
  if (taken === undefined) return
  const refused = values?.filter((value) => !taken.some((one) => isDeepStrictEqual(one, value)))
  if (refused?.length === 0) return
  const sub = subs.map(({ schema }) => listedValues(schema)).find((listed) => listed !== undefined)
  comparing.report({ path, keyword: 'enum', sub, sup: taken })
}
