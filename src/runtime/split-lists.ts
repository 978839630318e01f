import type { JsonSchema } from '../contract/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
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
  if (!JSON.stringify(schema).includes(`"${explodeKeyword}":false`)) return check
  const names = [...collectProperties({ schema, name: '' }, named)].flatMap(([name, { parts }]) =>
    parts.some(({ schema: one }) => isSentWithCommas(one)) ? [name] : [],
  )
  return (value) => {
    const values = value as Record<string, unknown>
    for (const name of names)
      if (Object.hasOwn(values, name)) values[name] = [values[name]].flat().flatMap((one) => String(one).split(','))
    return check(value)
  }
}

export function isSentWithCommas(schema: JsonSchema): boolean {
  return typeof schema !== 'boolean' && schema[explodeKeyword] === false
}
