/** A time zone. A wall time is what its clocks show, written as if it were UTC: milliseconds since 1970. */
export interface TimeZone {
  /** Returns the offset from UTC at a time, in milliseconds. */
  offsetAt(atMs: number): number
  /** Returns the offset of all wall times in a range, or undefined if the offset changes within it. */
  constantOffset(fromWall: number, toWall: number): number | undefined
  /**
   * Returns the times at which clocks show a wall time: one; two if clocks are set back; none if clocks are set forward
   * and skip it. `gapEnd` is then the time of that change.
   */
  instantsOf(wall: number): { readonly instants: readonly number[]; readonly gapEnd: number }
}

const dayMs = 86_400_000

export function makeTimeZone(name: string): TimeZone {
  const offsetAt = makeOffsetLookup(name)

  /** No zone changes its offset twice within two days. */
  function offsetsAround(wall: number): { before: number; after: number } {
    return { before: offsetAt(wall - dayMs), after: offsetAt(wall + dayMs) }
  }

  return {
    offsetAt,
    constantOffset(fromWall, toWall) {
      const { before } = offsetsAround(fromWall)
      const { after } = offsetsAround(toWall)
      return before === after ? before : undefined
    },
    instantsOf(wall) {
      const { before, after } = offsetsAround(wall)
      const instants = [...new Set([wall - before, wall - after])]
        .filter((instant) => instant + offsetAt(instant) === wall)
        .sort((a, b) => a - b)
      return { instants, gapEnd: instants.length > 0 ? wall : findChange(offsetAt, wall) }
    },
  }
}

/** Finds the time within a day of a wall time at which the offset changes. */
function findChange(offsetAt: TimeZone['offsetAt'], wall: number): number {
  let [from, to] = [wall - dayMs, wall + dayMs]
  const before = offsetAt(from)
  while (to - from > 1000) {
    const middle = Math.floor((from + to) / 2000) * 1000
    if (offsetAt(middle) === before) from = middle
    else to = middle
  }
  return to
}

function makeOffsetLookup(name: string): TimeZone['offsetAt'] {
  if (name === 'UTC') return () => 0
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (atMs) => {
    const seconds = Math.floor(atMs / 1000) * 1000
    const parts = Object.fromEntries(format.formatToParts(seconds).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - seconds
  }
}
