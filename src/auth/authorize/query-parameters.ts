/** The parameters of a query. Empty and repeated parameters count as absent (RFC 6749 §3.1). */
export interface QueryParameters {
  /** Returns the value as text. Bytes that are not UTF-8 become U+FFFD. */
  text(name: string): string | undefined
  /** Returns the unchanged value, one character per byte. `state` is returned to the client like this. */
  bytes(name: string): string | undefined
  /** Returns all values of a parameter that may be repeated. */
  all(name: string): readonly string[]
  /** Names of repeated parameters. */
  readonly repeated: ReadonlySet<string>
}

/** Parses a query as `application/x-www-form-urlencoded`. A percent sign without a valid escape is literal. */
export function parseQuery(query: string): QueryParameters {
  const values = new Map<string, string[]>()
  const repeated = new Set<string>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const name = toText(decodeBytes(pair.split('=', 1)[0]!))
    const value = decodeBytes(pair.slice(pair.indexOf('=') + 1 || pair.length))
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else {
      known.push(value)
      repeated.add(name)
    }
  }
  const bytes = (name: string) => (repeated.has(name) ? undefined : values.get(name)?.[0] || undefined)
  return {
    bytes,
    text(name) {
      const value = bytes(name)
      return value === undefined ? undefined : toText(value)
    },
    all: (name) => (values.get(name) ?? []).filter((value) => value !== '').map(toText),
    repeated,
  }
}

/** Returns the query of a request target, in characters that are allowed in a Location header and a form. */
export function readQuery(target: string): string {
  const start = target.indexOf('?')
  return start < 0 ? '' : normalizeQuery(target.slice(start + 1))
}

/** Escapes characters that are not allowed in a query (RFC 3986 §3.4). */
export function normalizeQuery(query: string): string {
  return query.replace(/[^\x21\x24-\x3B\x3D\x3F-\x5B\x5D\x5F\x61-\x7A\x7E]/g, (character) =>
    encodeBytes(Buffer.from(character, character > '\xFF' ? 'utf8' : 'latin1').toString('latin1')),
  )
}

/** Rewrites the pairs of a query. Pairs for which `rewrite` returns undefined are removed. */
export function rewriteQuery(query: string, rewrite: (name: string, pair: string) => string | undefined): string {
  const pairs = query.split('&').map((pair) => rewrite(toText(decodeBytes(pair.split('=', 1)[0]!)), pair))
  return pairs.filter((pair) => pair !== undefined).join('&')
}

/** Percent-encodes bytes given as one character each. */
export function encodeBytes(bytes: string): string {
  return bytes.replace(/[^A-Za-z0-9\-._~]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  })
}

function decodeBytes(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}

function toText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
