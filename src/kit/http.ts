import { MIMEType } from 'node:util'

/**
 * Whether a content type is JSON (`json` or `+json`, as in the WHATWG MIME Sniffing standard). Ignores parameters;
 * invalid types are not JSON.
 */
export function isJsonType(contentType: string): boolean {
  try {
    const { subtype } = new MIMEType(contentType)
    return subtype === 'json' || subtype.endsWith('+json')
  } catch {
    return false
  }
}

/** Statuses whose response has no body (RFC 9110). */
export const bodylessStatuses: ReadonlySet<string> = new Set(['204', '205', '304'])
