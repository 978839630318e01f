import { MIMEType } from 'node:util'

/** Whether a content type is JSON, as browsers read it: parameters do not count, and what cannot be parsed is not. */
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
