const longestMs = 24 * 3_600_000

/** The header Retry-After, seconds or a date (RFC 9110 §10.2.3), in milliseconds from now, at most a day. */
export function parseRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return ms > 0 ? Math.min(ms, longestMs) : undefined
}
