import type { Schedule } from '../../kit/index.ts'
import { makeTimeZone, type TimeZone } from './time-zone.ts'

/** When a cronjob is due. A slot is one such time, in milliseconds since 1970. */
export interface Timetable {
  /** Returns the last slot that is not after a time. */
  latest(atMs: number): number | undefined
  /** Returns the first slot after a time. */
  next(afterMs: number): number | undefined
}

const dayMs = 86_400_000
/** February 29 falls on a given weekday every 28 years, and around 2100 after 40 years. */
const maxSearchDays = 366 * 41

/**
 * Returns the slots of a schedule in a time zone. When clocks are set forward, skipped slots run once, right after the
 * change. When clocks are set back, repeated slots run once. A schedule for every hour follows elapsed time instead.
 */
export function makeTimetable(schedule: Schedule, timezone: string): Timetable {
  const zone = makeTimeZone(timezone)
  return {
    latest(atMs) {
      const today = dayOf(zone, atMs)
      for (let day = today + 1; day > today - maxSearchDays; day--) {
        const found = slotsOf(schedule, zone, day).findLast((slot) => slot <= atMs)
        if (found !== undefined) return found
      }
      return undefined
    },
    next(afterMs) {
      const today = dayOf(zone, afterMs)
      for (let day = today - 1; day < today + maxSearchDays; day++) {
        const found = slotsOf(schedule, zone, day).find((slot) => slot > afterMs)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

/** Returns the days since 1970 in local time. */
function dayOf(zone: TimeZone, atMs: number): number {
  return Math.floor((atMs + zone.offsetAt(atMs)) / dayMs)
}

/** Returns the slots of one calendar day, ascending. */
function slotsOf({ minutes, everyHour, hasDay }: Schedule, zone: TimeZone, day: number): readonly number[] {
  const date = new Date(day * dayMs)
  if (!hasDay(date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay())) return []
  const walls = minutes.map((minute) => day * dayMs + minute * 60_000)
  const offset = zone.constantOffset(day * dayMs, (day + 1) * dayMs)
  if (offset !== undefined) return walls.map((wall) => wall - offset)
  const slots = walls.flatMap((wall) => {
    const { instants, gapEnd } = zone.instantsOf(wall)
    if (everyHour) return instants
    return instants.length > 0 ? instants.slice(0, 1) : [gapEnd]
  })
  return [...new Set(slots)].sort((a, b) => a - b)
}
