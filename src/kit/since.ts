import { parseDuration } from './duration.ts'

/** A moment of the past: so long ago, or a time in milliseconds since 1970. */
export type Since = { readonly agoMs: number } | { readonly atMs: number }

const isoTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/

/** Reads `24h` or an ISO time; one without a zone is local, a day alone begins by UTC. Undefined if it is neither. */
export function parseSince(text: string): Since | undefined {
  const agoMs = parseDuration(text)
  if (agoMs !== undefined) return { agoMs }
  const atMs = isoTime.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN
  return Number.isNaN(atMs) ? undefined : { atMs }
}
