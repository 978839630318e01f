import { isStorable } from '../../kit/index.ts'
const maxDepth = 120
const maxValues = 1_000_000

/**
 * Finds what no definition can contain: too many levels or values, or text that cannot be stored unchanged. Must run
 * before any recursive code.
 */
export function findImplausible(document: unknown): string | undefined {
  const pending: { readonly value: unknown; readonly depth: number }[] = [{ value: document, depth: 0 }]
  let count = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next
    count += 1
    if (count > maxValues) return `has more than ${maxValues} values`
    if (typeof value === 'string' && !isStorable(value))
      return 'has a string with a NUL character or an unpaired surrogate'
    if (typeof value !== 'object' || value === null) continue
    if (depth === maxDepth) return `is nested more than ${maxDepth} levels deep`
    for (const [key, item] of Object.entries(value)) {
      if (!isStorable(key)) return 'has a name with a NUL character or an unpaired surrogate'
      pending.push({ value: item, depth: depth + 1 })
    }
  }
  return undefined
}
