import { monitorEventLoopDelay } from 'node:perf_hooks'
import { systemClock, type Clock } from '../kit/index.ts'

/** Whether this process is behind with its work, so that one more request would only wait. */
export interface Pressure {
  isHigh(): boolean
  /** How late the event loop was, on average over the last second. */
  delayMs(): number
  stop(): void
}

export interface PressureLimits {
  /** How late the event loop may be, on average over a second, for some seconds in a row: one long turn is no pressure. */
  readonly delayMs: number
  /** Called when it becomes too late, and when it no longer is. */
  onChange?(isHigh: boolean): void
}

const resolutionMs = 20
const lookMs = 1000
/** Looks in a row that find it late. */
const enough = 3

/** Watches how late the event loop is. */
export function watchPressure({ delayMs: limitMs, onChange }: PressureLimits): Pressure {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let isHigh = false
  let delayMs = 0
  let late = 0
  delays.enable()
  const timer = setInterval(() => {
    // Whole milliseconds of waiting for its turn, less what it waits for on purpose.
    delayMs = delays.count === 0 ? 0 : Math.max(0, delays.mean / 1e6 - resolutionMs)
    delays.reset()
    const was = isHigh
    late = delayMs > limitMs ? late + 1 : 0
    isHigh = late >= enough
    if (isHigh !== was) onChange?.(isHigh)
  }, lookMs).unref()
  return {
    isHigh: () => isHigh,
    delayMs: () => delayMs,
    stop() {
      clearInterval(timer)
      delays.disable()
    },
  }
}

/** Whether this process stood still: a paused container, a suspended machine, an event loop that was blocked. */
export interface Stalls {
  /** For how long requests that are read now may have waited while it did, in milliseconds; 0 where it did not. */
  waitedMs(): number
  stop(): void
}

const beatMs = 500
const shortestStallMs = 1000
/** By then everything that came during a stall has been read. */
const readMs = 3000

/** Watches for times in which this process did not run, by whichever clock went further: not every clock counts them. */
export function watchStalls(clock: Clock = systemClock): Stalls {
  let last = { now: clock.now(), monotonic: clock.monotonic() }
  let stall = { ms: 0, until: -Infinity }
  function look(): number {
    const { now, monotonic } = { now: clock.now(), monotonic: clock.monotonic() }
    const ms = Math.max(now - last.now, monotonic - last.monotonic) - beatMs
    const before = last.monotonic < stall.until ? stall.ms : 0
    if (ms > shortestStallMs) stall = { ms: before + ms, until: monotonic + readMs }
    last = { now, monotonic }
    return monotonic < stall.until ? stall.ms : 0
  }
  const timer = setInterval(look, beatMs).unref()
  return { waitedMs: look, stop: () => clearInterval(timer) }
}
