import { MIMEType } from 'node:util'

/**
 * Whether a content type is JSON (`json` or `+json`, as in the WHATWG MIME Sniffing standard). Ignores parameters;
 * invalid types are not JSON, nor are several types, of which browsers use the last.
 */
export function isJsonType(contentType: string): boolean {
  if (contentType.includes(',')) return false
  try {
    const { subtype } = new MIMEType(contentType)
    return subtype === 'json' || subtype.endsWith('+json')
  } catch {
    return false
  }
}

/** Statuses whose response has no body (RFC 9110). */
export const bodylessStatuses: ReadonlySet<string> = new Set(['204', '205', '304'])

/** Reserved paths of Waypost, including all paths below them. */
const reservedPaths: readonly string[] = [
  '/consumer',
  '/authorization',
  '/backend',
  '/portal',
  '/docs',
  '/openapi.json',
  '/health',
  '/metrics',
  '/mcp',
  '/.well-known',
]

/** Returns the reserved path that contains a path; undefined if there is none. */
export function findReservedPath(path: string): string | undefined {
  const at = path.startsWith('/') ? path.indexOf('/', 1) : 0
  const first = at === -1 ? path : path.slice(0, at)
  return reservedPaths.find((reserved) => reserved === first)
}
