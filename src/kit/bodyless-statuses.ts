/** Statuses whose response has no body (RFC 9110). */
export const bodylessStatuses: ReadonlySet<string> = new Set(['204', '205', '304'])
