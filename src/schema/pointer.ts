/** Returns the keys of a JSON pointer (RFC 6901), which may be percent-encoded as in a URI; undefined if it is malformed. */
export function parsePointer(fragment: string): readonly string[] | undefined {
  if (fragment === '') return []
  if (!fragment.startsWith('/')) return undefined
  try {
    return decodeURIComponent(fragment).slice(1).split('/').map(unescapeStep)
  } catch {
    return undefined
  }
}

/** Returns the JSON pointer of keys, percent-encoded as in a URI where that is needed. */
export function makePointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${encodeURIComponent(escapeStep(String(key))).replaceAll('%24', '$')}`).join('')
}

/** Returns a key as a step of a JSON pointer: `a/b` is `a~1b`. */
export function escapeStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Returns the key that a step of a JSON pointer names. */
export function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Returns the value at a JSON pointer, which may be percent-encoded; undefined where there is none. */
export function findByPointer(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of parsePointer(pointer) ?? [undefined]) {
    if (key === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
