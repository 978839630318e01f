export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** @param part the share of values up to the result, 1 for the maximum */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
