/** The source of time. Tests pass a clock that they control. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number
  /** A clock that never goes back, in milliseconds from an arbitrary start. */
  monotonic(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const sizes = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const

/** Parses a duration such as `30s`, `1h` or `1h30m`. Returns milliseconds, or undefined if it is invalid. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(ms|[smhdw]))+$/.test(text)) return undefined
  let total = 0
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[smhdw])/g))
    total += Number(count) * units[unit as keyof typeof units]
  return Number.isSafeInteger(total) ? total : undefined
}

/** Parses a size such as `512kb` or `1mb` (powers of 1024). Returns bytes, or undefined if it is invalid. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+)(b|kb|mb|gb)$/.exec(text)
  if (match === null) return undefined
  const bytes = Number(match[1]) * sizes[match[2] as keyof typeof sizes]
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** Returns the valid form of what people write for a size or a duration: `5mb` for "5 MB", `30s` for "30 seconds". */
export function suggestQuantity(text: string, parse: (text: string) => number | undefined): string | undefined {
  const plain = text.toLowerCase().replaceAll(/[\s_]/g, '')
  const [, count = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(plain) ?? []
  const forms = [
    plain,
    `${count}${unit.replace('ib', 'b')}`,
    `${count}${unit}b`,
    `${count}${unit.charAt(0)}`,
    `${plain}b`,
  ]
  return forms.find((form) => form !== text && parse(form) !== undefined)
}

/** Formats a size as it is written in `config`: `512kb`, `10mb`, `1500b`. */
export function formatSize(bytes: number): string {
  const unit = (['gb', 'mb', 'kb'] as const).find((one) => bytes >= sizes[one] && bytes % sizes[one] === 0) ?? 'b'
  return `${bytes / sizes[unit]}${unit}`
}

/**
 * Formats a duration: `40 s`, `15 minutes`, `2 hours`, `3 days`.
 * @param round rounds the number; up by default, which suits times to wait
 */
export function formatDuration(ms: number, round: (value: number) => number = Math.ceil): string {
  const seconds = round(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${round(seconds / 60)} minutes`
  return seconds < 172_800 ? `${round(seconds / 3600)} hours` : `${round(seconds / 86_400)} days`
}

/** A time in the past: a duration before now, or milliseconds since 1970. */
export type Since = { readonly agoMs: number } | { readonly atMs: number }

const isoTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/

/**
 * Parses `24h` or an ISO time. A time without a zone is local, a date alone is UTC. Returns undefined if it is neither.
 */
export function parseSince(text: string): Since | undefined {
  const agoMs = parseDuration(text)
  if (agoMs !== undefined) return { agoMs }
  const atMs = isoTime.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN
  return Number.isNaN(atMs) ? undefined : { atMs }
}

/** Formats milliseconds since 1970 as ISO text; null stays null. */
export function formatTime<Time extends number | null>(ms: Time): Time extends null ? string | null : string {
  return (ms === null ? null : new Date(ms).toISOString()) as never
}
