/**
 * Compares values of JSON as JSON Schema defines equality: the order of keys is irrelevant.
 * @param spend called with the steps that the comparison takes; may throw to end it
 */
export function isSameValue(one: unknown, other: unknown, spend?: (steps: number) => void): boolean {
  if (one === other || !isStructure(one) || !isStructure(other)) {
    spend?.(1 + (typeof one === 'string' ? one.length / 64 : 0))
    return one === other
  }
  const keys = Object.keys(one)
  spend?.(1 + keys.length)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameValue(one[key as never], other[key as never], spend))
  )
}

/** Whether a value of JSON is an object or a list. */
export function isStructure(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
