/** How many lines a change adds and removes. */
export interface LineCounts {
  readonly additions: number
  readonly deletions: number
}

/** Limits the work for files that have little in common; beyond it all lines count as changed. */
const maxDistance = 1000

/** Counts as `git diff --stat` does, with the shortest edit script (Myers, "An O(ND) Difference Algorithm", 1986). */
export function countLines(before: string | undefined, after: string | undefined): LineCounts {
  const [old, now] = [splitLines(before), splitLines(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let same = 0
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same += 1
  const [a, b] = [old.slice(start, old.length - same), now.slice(start, now.length - same)]
  const distance = findDistance(a, b)
  const additions = (distance + b.length - a.length) / 2
  return { additions, deletions: distance - additions }
}

function splitLines(text = ''): readonly string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}

/** The smallest number of lines to add and remove. */
function findDistance(a: readonly string[], b: readonly string[]): number {
  // By diagonal, from -maxDistance - 1.
  const furthest = new Int32Array(2 * maxDistance + 3).fill(-1)
  const middle = maxDistance + 1
  furthest[middle + 1] = 0
  for (let distance = 0; distance <= maxDistance; distance += 1) {
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const [below, above] = [furthest[middle + diagonal + 1]!, furthest[middle + diagonal - 1]!]
      let x = diagonal === -distance || (diagonal !== distance && above < below) ? below : above + 1
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1
      furthest[middle + diagonal] = x
      if (x >= a.length && x - diagonal >= b.length) return distance
    }
  }
  return a.length + b.length
}
