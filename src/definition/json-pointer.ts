/** The keys of a JSON pointer (RFC 6901), which may be percent-encoded as in a URI; undefined if it is none. */
export function parsePointer(fragment: string): readonly string[] | undefined {
  if (fragment === '') return []
  if (!fragment.startsWith('/')) return undefined
  try {
    const keys = decodeURIComponent(fragment).slice(1).split('/')
    return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  } catch {
    return undefined
  }
}

/** The JSON pointer of keys, percent-encoded as in a URI but for what may stand there anyway. */
export function makePointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${escapeKey(String(key))}`).join('')
}

function escapeKey(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%24', '$')
}
