import { isStorable, parseDuration } from '../../kit/index.ts'
import { errors } from '../errors.ts'

/** When a dispatched event becomes a message, and what identifies it until then. */
export interface Delay {
  /** A number of milliseconds after the dispatch, or milliseconds since 1970. */
  readonly due: { readonly afterMs: number } | { readonly atMs: number }
  readonly key: string | undefined
  /** Whether it replaces the one with its key. Otherwise it is dropped if there is one. */
  readonly replaces: boolean
}

/** The options of a dispatch that delay it, as an action passes them. */
export interface DelayOptions {
  readonly delay?: string | undefined
  readonly at?: Date | undefined
  readonly key?: string | undefined
  readonly replace?: boolean | undefined
}

const yearMs = 366 * 86_400_000
const maxYears = 10
const maxKey = 255

/**
 * Parses the options of a dispatch.
 * @returns undefined if it is not delayed
 * @throws WP_EVENTS_DELAY
 */
export function parseDelay(event: string, { delay, at, key, replace }: DelayOptions): Delay | undefined {
  const fail = (reason: string) => errors.WP_EVENTS_DELAY({ event, reason })
  if (delay !== undefined && at !== undefined) throw fail('it has both "delay" and "at"')
  if (key !== undefined) assertKey(event, key)
  if (replace !== undefined && typeof replace !== 'boolean') throw fail('"replace" is neither true nor false')
  if (replace !== undefined && key === undefined) throw fail('"replace" has no "key"')
  const due = delay === undefined ? parseTime(at, fail) : parseWait(delay, fail)
  if (due !== undefined) return { due, key, replaces: replace === true }
  if (key !== undefined) throw fail('"key" has neither "delay" nor "at"')
  return undefined
}

/** @throws WP_EVENTS_DELAY */
export function assertKey(event: string, key: unknown): void {
  const isKey = typeof key === 'string' && key !== '' && key.length <= maxKey && isStorable(key)
  if (!isKey) throw errors.WP_EVENTS_DELAY({ event, reason: `"key" is not a text of 1 to ${maxKey} characters` })
}

function parseWait(delay: unknown, fail: (reason: string) => Error): Delay['due'] {
  const afterMs = typeof delay === 'string' ? parseDuration(delay) : undefined
  if (afterMs === undefined) throw fail(`the delay "${String(delay)}" is not a duration such as "1h30m"`)
  if (afterMs > maxYears * yearMs) throw fail(`the delay "${String(delay)}" is longer than ${maxYears} years`)
  return { afterMs }
}

function parseTime(at: unknown, fail: (reason: string) => Error): Delay['due'] | undefined {
  if (at === undefined) return undefined
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) throw fail('"at" is not a valid Date')
  if (at.getTime() > Date.now() + maxYears * yearMs) throw fail(`"at" is more than ${maxYears} years ahead`)
  return { atMs: Math.max(0, Math.floor(at.getTime())) }
}
