/** Numbers in texts: `1,204`. */
export const numbers = new Intl.NumberFormat('en')

/** A time of today: `14:05`. */
export const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** A duration in milliseconds: `3.2 ms`, `1,204 ms`. */
export function formatMs(value: number): string {
  return value < 10 ? `${value.toFixed(1)} ms` : `${numbers.format(Math.round(value))} ms`
}

/** `1 user`, `4 users`, `1,204 calls`. */
export function countOf(amount: number, one: string, many = `${one}s`): string {
  return `${numbers.format(amount)} ${amount === 1 ? one : many}`
}
