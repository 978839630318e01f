import { Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'

const units = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

/** So that a time in two hours is not "in 1 hr." a moment later. */
const missingShare = 0.05

/** Writes a time relative to now, for example "3 min. ago". */
export function formatRelative(time: number, now: number): string {
  const distance = time - now
  if (Math.abs(distance) < 5000) return distance > 0 ? 'now' : 'just now'
  const missing = distance > 0 ? missingShare : 0
  const [unit, ms] = units.find(([, length]) => Math.abs(distance) >= (1 - missing) * length) ?? units.at(-1)!
  return relative.format(Math.trunc(distance / ms + missing), unit)
}

/** Writes a time exactly: "2026-11-23 04:11:09 UTC". */
export function formatExact(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const local = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
})

/** An exact time in the time zone of the user, which it names: "23 Nov 2026, 05:11:09 CET". For records of what happened. */
export function ExactTime({ value }: { readonly value: string | number | Date }) {
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return <>{String(value)}</>
  return (
    <time dateTime={time.toISOString()} className="time">
      {local.format(time)}
    </time>
  )
}

const dayTime = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', hourCycle: 'h23' })

/** The time of day with milliseconds, in the time zone of the user: `14:05:09.120`. For lines of a log. */
export function clockOf(time: number): string {
  return `${dayTime.format(time)}.${String(time % 1000).padStart(3, '0')}`
}

interface RelativeTimeProps {
  readonly value: string | number | Date
  /** Whether the time can be in the future. Others are never shown as in the future, although clocks differ. */
  readonly canBeFuture?: boolean
}

/** A time relative to now, with the exact one in a tooltip. */
export function RelativeTime({ value, canBeFuture = false }: RelativeTimeProps) {
  const now = useNow()
  const time = new Date(value).getTime()
  if (Number.isNaN(time)) return <>{String(value)}</>
  return (
    <Tooltip label={formatExact(time)}>
      <time dateTime={new Date(time).toISOString()} className="time">
        {formatRelative(canBeFuture ? time : Math.min(time, now), now)}
      </time>
    </Tooltip>
  )
}

const tickMs = 10_000
let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all times on the page. */
function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const one of listeners) one()
    }, tickMs)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(timer)
  }
}
