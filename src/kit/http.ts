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

/** Keys of responses that stand for all errors without a key of their own. */
export const errorRanges = ['4XX', '5XX', 'default'] as const

/**
 * Returns the key that a status has in `responses`: its own, or for an error that of its range, or `default`.
 * @param status also a range
 */
export function findResponseKey(status: string, responses: object): string | undefined {
  const keys = /^[45]/.test(status) ? [status, `${status[0]}XX`, 'default'] : [status]
  return keys.find((key) => Object.hasOwn(responses, key))
}

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
