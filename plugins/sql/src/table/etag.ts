import type { ValueType } from './plan.ts'

/** The ETag of a row with a version (RFC 9110 §8.8.3). */
export function writeEtag(version: unknown): string {
  return `"${String(version)}"`
}

export type EntityTags = '*' | readonly string[]

/**
 * Parses If-Match or If-None-Match. Weak tags count as strong ones: proxies that compress weaken tags, and a version
 * identifies the row in any encoding.
 * @returns undefined if the header is not a list of entity tags
 */
export function parseEntityTags(header: string): EntityTags | undefined {
  const text = header.trim()
  if (text === '*') return '*'
  const tag = /(?:W\/)?"([^"]*)"/
  if (!new RegExp(`^${tag.source}(?:\\s*,\\s*${tag.source})*$`).test(text)) return undefined
  return [...text.matchAll(new RegExp(tag.source, 'g'))].map(([, version]) => version!)
}

/** Returns the versions in entity tags. Tags that cannot be versions of the column match no row. */
export function readVersions(tags: readonly string[], type: ValueType): readonly bigint[] {
  const max = type === 'integer' ? 2n ** 31n : 2n ** 63n
  return tags
    .filter((tag) => /^(0|[1-9]\d{0,18})$/.test(tag))
    .map(BigInt)
    .filter((version) => version < max)
}
