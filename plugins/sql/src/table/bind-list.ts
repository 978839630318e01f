import type { DatabaseKind } from 'waypost'

/** Binds a list as one parameter. */
export function bindList(values: readonly unknown[], kind: DatabaseKind): unknown {
  if (kind === 'postgresql') return { toPostgres: () => values }
  // JSON text, written so that integers beyond 2^53 keep their digits.
  return `[${values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join()}]`
}

interface PostgresList {
  toPostgres(): readonly unknown[]
}

/** Whether a value is what `bindList` makes for PostgreSQL. */
export function isList(value: unknown): value is PostgresList {
  return typeof value === 'object' && value !== null && 'toPostgres' in value
}
