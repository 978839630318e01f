const units = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** A length of time in its largest unit that leaves at least two: `45 s`, `59 min`, `23 h`, `12 days`. */
export function formatSpan(ms: number): string {
  const [unit, size] = units.find(([, length]) => ms >= 2 * length) ?? (['s', 1000] as const)
  const count = Math.max(0, Math.floor(ms / size))
  return `${count} ${unit}${unit === 'day' && count !== 1 ? 's' : ''}`
}

/** A day, by UTC: `2026-11-21`. */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
