import { isDeepStrictEqual } from 'node:util'
import type { Keywords } from '../placed.ts'

const everyType = ['null', 'boolean', 'object', 'array', 'string', 'integer', 'number'] as const

/** Returns the types of the values that all schemas accept. `number` means numbers that are not integers. */
export function typesOf(schemas: readonly Keywords[]): ReadonlySet<string> {
  // A file is a value of no type of JSON.
  if (schemas.some(({ type }) => type === 'file')) return new Set(['file'])
  let types: readonly string[] = everyType
  for (const schema of schemas) {
    const own = ownTypes(schema)
    const listed = listedValues(schema)?.map(typeOf)
    types = types.filter((type) => own.has(type) && (listed?.includes(type) ?? true))
  }
  return new Set(types)
}

/** Returns the types that a schema allows. `number` includes `integer`. */
export function ownTypes({ type }: Keywords): ReadonlySet<string> {
  if (type === undefined) return new Set(everyType)
  const named = new Set([type].flat() as string[])
  return named.has('number') ? named.add('integer') : named
}

/** Returns the values that all schemas accept; undefined if they cannot be listed. */
export function valuesOf(schemas: readonly Keywords[], types: ReadonlySet<string>): readonly unknown[] | undefined {
  let values: readonly unknown[] | undefined
  for (const schema of schemas) {
    const listed = listedValues(schema)
    if (listed === undefined) continue
    values = (values ?? listed).filter((value) => listed.some((one) => isDeepStrictEqual(one, value)))
  }
  if (values !== undefined) return values.filter((value) => types.has(typeOf(value)))
  if ([...types].every((type) => type === 'null' || type === 'boolean')) {
    return [...types].flatMap((type): unknown[] => (type === 'null' ? [null] : [true, false]))
  }
  return undefined
}

/** Returns the values that `enum` and `const` allow; undefined if the schema has neither. */
export function listedValues({ enum: list, const: only, ...rest }: Keywords): readonly unknown[] | undefined {
  void rest
  const values = Array.isArray(list) ? (list as unknown[]) : undefined
  if (only === undefined) return values
  return values === undefined || values.some((value) => isDeepStrictEqual(value, only)) ? [only] : []
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}
