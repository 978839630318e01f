import { monitorEventLoopDelay } from 'node:perf_hooks'
import { systemClock, type Clock } from '../kit/index.ts'

/** Whether this process is overloaded, so that further requests would only wait. */
export interface Pressure {
  isHigh(): boolean
  /** Average event loop delay over the last second. */
  delayMs(): number
  stop(): void
}

export interface PressureLimits {
  /**
   * Maximum average event loop delay over a second. It must be exceeded for several seconds in a row; one long task is
   * not overload.
   */
  readonly delayMs: number
  /** Called when the delay becomes too high, and when it is normal again. */
  onChange?(isHigh: boolean): void
}

const resolutionMs = 20
const pressureCheckMs = 1000
/** Consecutive checks above the limit before pressure is high. */
const minHighChecks = 3

/** Watches the event loop delay. */
export function watchPressure({ delayMs: limitMs, onChange }: PressureLimits): Pressure {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let isHigh = false
  let delayMs = 0
  let late = 0
  delays.enable()
  const timer = setInterval(() => {
    // The histogram includes its own sampling interval.
    delayMs = delays.count === 0 ? 0 : Math.max(0, delays.mean / 1e6 - resolutionMs)
    delays.reset()
    const was = isHigh
    late = delayMs > limitMs ? late + 1 : 0
    isHigh = late >= minHighChecks
    if (isHigh !== was) onChange?.(isHigh)
  }, pressureCheckMs).unref()
  return {
    isHigh: () => isHigh,
    delayMs: () => delayMs,
    stop() {
      clearInterval(timer)
      delays.disable()
    },
  }
}

/** Detects that this process did not run: a paused container, a suspended machine, a blocked event loop. */
export interface StallWatch {
  /** How long requests that are being read now may have waited during a stall, in milliseconds; 0 without a stall. */
  waitedMs(): number
  stop(): void
}

/** Short against a stall, because a stall that begins just after a check counts from that check. */
const stallCheckMs = 100
/** Shorter than the timeout of any client. */
const minStallMs = 1000
/** Requests that arrived during a stall have been read after this time. */
const stallReadMs = 3000

/** Watches for stalls. Uses the clock that advanced further, because not every clock runs during a suspension. */
export function watchStalls(clock: Clock = systemClock): StallWatch {
  let last = { now: clock.now(), monotonic: clock.monotonic() }
  let stall = { ms: 0, until: -Infinity }
  function checkForStall(): number {
    const { now, monotonic } = { now: clock.now(), monotonic: clock.monotonic() }
    const ms = Math.max(now - last.now, monotonic - last.monotonic)
    const before = last.monotonic < stall.until ? stall.ms : 0
    if (ms > minStallMs) stall = { ms: before + ms, until: monotonic + stallReadMs }
    last = { now, monotonic }
    return monotonic < stall.until ? stall.ms : 0
  }
  const timer = setInterval(checkForStall, stallCheckMs).unref()
  return { waitedMs: checkForStall, stop: () => clearInterval(timer) }
}
