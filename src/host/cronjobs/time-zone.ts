/** A time zone. A wall time is what its clocks show, as if it were UTC: milliseconds since 1970. */
export interface Zone {
  /** What its clocks are ahead of UTC at a moment, in milliseconds. */
  offsetAt(atMs: number): number
  /** The one offset of all wall times from one to another; undefined where a clock is changed among them. */
  steadyOffset(fromWall: number, toWall: number): number | undefined
  /**
   * The moments at which clocks show a wall time: one; two where they are put back; none where they are put forward,
   * and then the moment at which that happens.
   */
  momentsOf(wall: number): { readonly moments: readonly number[]; readonly gapEnd: number }
}

const dayMs = 86_400_000

export function makeZone(name: string): Zone {
  const offsetAt = makeOffset(name)

  /** No zone changes its clocks twice within two days. */
  function around(wall: number): { before: number; after: number } {
    return { before: offsetAt(wall - dayMs), after: offsetAt(wall + dayMs) }
  }

  return {
    offsetAt,
    steadyOffset(fromWall, toWall) {
      const { before } = around(fromWall)
      const { after } = around(toWall)
      return before === after ? before : undefined
    },
    momentsOf(wall) {
      const { before, after } = around(wall)
      const moments = [...new Set([wall - before, wall - after])]
        .filter((moment) => moment + offsetAt(moment) === wall)
        .sort((a, b) => a - b)
      return { moments, gapEnd: moments.length > 0 ? wall : findChange(offsetAt, wall) }
    },
  }
}

/** The moment within a day of a wall time at which the offset becomes another. */
function findChange(offsetAt: Zone['offsetAt'], wall: number): number {
  let [from, to] = [wall - dayMs, wall + dayMs]
  const before = offsetAt(from)
  while (to - from > 1000) {
    const middle = Math.floor((from + to) / 2000) * 1000
    if (offsetAt(middle) === before) from = middle
    else to = middle
  }
  return to
}

function makeOffset(name: string): Zone['offsetAt'] {
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
