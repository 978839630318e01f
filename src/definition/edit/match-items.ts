import { type Writable } from '../write-yaml.ts'

type ListStep =
  | { readonly kind: 'set' | 'insert'; readonly index: number; readonly value: Writable }
  | { readonly kind: 'remove'; readonly index: number }

/** More pairs of items are not compared. */
const maxPairs = 250_000

export function matchItems(
  old: readonly ((item: Writable) => boolean)[],
  items: readonly Writable[],
): readonly ListStep[] {
  const [n, m] = [old.length, items.length]
  let head = 0
  while (head < n && head < m && old[head]!(items[head]!)) head += 1
  let tail = 0
  while (tail < n - head && tail < m - head && old[n - 1 - tail]!(items[m - 1 - tail]!)) tail += 1
  const [rows, columns] = [n - head - tail, m - head - tail]
  const kept: (readonly [number, number])[] = []
  if (rows * columns <= maxPairs) {
    const isSame = Array.from({ length: rows }, (_, i) =>
      Array.from({ length: columns }, (__, j) => old[head + i]!(items[head + j]!)),
    )
    const best = Array.from({ length: rows + 1 }, () => Array.from({ length: columns + 1 }, () => 0))
    for (let i = rows - 1; i >= 0; i--)
      for (let j = columns - 1; j >= 0; j--)
        best[i]![j] = isSame[i]![j] ? best[i + 1]![j + 1]! + 1 : Math.max(best[i + 1]![j]!, best[i]![j + 1]!)
    for (let i = 0, j = 0; i < rows && j < columns;) {
      if (isSame[i]![j]) kept.push([head + i++, head + j++])
      else if (best[i + 1]![j]! >= best[i]![j + 1]!) i += 1
      else j += 1
    }
  }
  const steps: ListStep[] = []
  let [at, next] = [head, head]
  for (const [i, j] of [...kept, [n - tail, m - tail] as const]) {
    const common = Math.min(i - at, j - next)
    for (let k = 0; k < common; k++) steps.push({ kind: 'set', index: at + k, value: items[next + k]! })
    for (let k = at + common; k < i; k++) steps.push({ kind: 'remove', index: k })
    // Inserted from the last to the first, before the same item.
    for (let k = next + common; k < j; k++) steps.push({ kind: 'insert', index: at + common, value: items[k]! })
    ;[at, next] = [i + 1, j + 1]
  }
  return steps
}
