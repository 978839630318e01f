import type { ValueType } from './plan.ts'

/** The ETag of a row with a version (RFC 9110 §8.8.3). */
export function writeEtag(version: unknown): string {
  return `"${String(version)}"`
}

export type EntityTags = '*' | readonly string[]

/**
 * Parses If-Match or If-None-Match (RFC 9110 §13.1).
 * @param comparison `strong` leaves out weak tags, which never match; `weak` takes them for strong ones
 * @returns undefined if the header is not a list of entity tags
 */
export function parseEntityTags(header: string, comparison: 'strong' | 'weak'): EntityTags | undefined {
  const text = header.trim()
  if (text === '*') return '*'
  const tag = /(W\/)?"([^"]*)"/
  if (!new RegExp(`^${tag.source}(?:\\s*,\\s*${tag.source})*$`).test(text)) return undefined
  const tags = [...text.matchAll(new RegExp(tag.source, 'g'))]
  return tags.flatMap(([, weak, version]) => (weak !== undefined && comparison === 'strong' ? [] : [version!]))
}

/** Returns the versions in entity tags. Tags that cannot be versions of the column match no row. */
export function readVersions(tags: readonly string[], type: ValueType): readonly bigint[] {
  const max = type === 'integer' ? 2n ** 31n : 2n ** 63n
  return tags
    .filter((tag) => /^(0|[1-9]\d{0,18})$/.test(tag))
    .map(BigInt)
    .filter((version) => version < max)
}
