import { etagOf } from '../../kit/index.ts'
import { escapeStep, unescapeStep } from '../../schema/index.ts'
import { errors } from '../errors.ts'

/** Returns the keys of a JSON pointer. @throws WP_BACKEND_DRAFT_POINTER */
export function keysOf(pointer: string): readonly string[] {
  if (pointer !== '' && !pointer.startsWith('/')) throw errors.WP_BACKEND_DRAFT_POINTER({ at: pointer })
  return pointer.split('/').slice(1).map(unescapeStep)
}

/** Returns the JSON pointer of keys. */
export function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${escapeStep(key)}`).join('')
}

/** Returns the strong ETag of a value: a hash that does not depend on the order of keys. */
export function etagOfValue(value: unknown): string {
  return etagOf(JSON.stringify(value, sortKeys))
}

/** For `JSON.stringify`. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
