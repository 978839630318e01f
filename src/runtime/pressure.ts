import { monitorEventLoopDelay } from 'node:perf_hooks'

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
