import type { Schedule } from '../../kit/index.ts'
import { makeZone, type Zone } from './time-zone.ts'

/** When a cronjob is due. A slot is one such moment, in milliseconds since 1970. */
export interface Timetable {
  /** The last slot that is not after a moment. */
  latest(atMs: number): number | undefined
  /** The first slot after a moment. */
  next(afterMs: number): number | undefined
}

const dayMs = 86_400_000
/** February 29 falls on a given weekday once in 28 years, and 12 years later still around 2100. */
const farthestDays = 366 * 41

/**
 * The slots of a schedule in a time zone. Where a clock is put forward, hours that are skipped and named by the
 * schedule are made up for right after; where it is put back, hours that come twice count once. A schedule of every
 * hour counts the hours that go by.
 */
export function makeTimetable(schedule: Schedule, timezone: string): Timetable {
  const zone = makeZone(timezone)
  return {
    latest(atMs) {
      const today = dayOf(zone, atMs)
      for (let day = today + 1; day > today - farthestDays; day--) {
        const found = slotsOf(schedule, zone, day).findLast((slot) => slot <= atMs)
        if (found !== undefined) return found
      }
      return undefined
    },
    next(afterMs) {
      const today = dayOf(zone, afterMs)
      for (let day = today - 1; day < today + farthestDays; day++) {
        const found = slotsOf(schedule, zone, day).find((slot) => slot > afterMs)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

/** Days since 1970 by the clock on the wall. */
function dayOf(zone: Zone, atMs: number): number {
  return Math.floor((atMs + zone.offsetAt(atMs)) / dayMs)
}

/** The slots of one day of the calendar, ascending. */
function slotsOf({ minutes, everyHour, hasDay }: Schedule, zone: Zone, day: number): readonly number[] {
  const date = new Date(day * dayMs)
  if (!hasDay(date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay())) return []
  const walls = minutes.map((minute) => day * dayMs + minute * 60_000)
  const steady = zone.steadyOffset(day * dayMs, (day + 1) * dayMs)
  if (steady !== undefined) return walls.map((wall) => wall - steady)
  const slots = walls.flatMap((wall) => {
    const { moments, gapEnd } = zone.momentsOf(wall)
    if (everyHour) return moments
    return moments.length > 0 ? moments.slice(0, 1) : [gapEnd]
  })
  return [...new Set(slots)].sort((a, b) => a - b)
}
