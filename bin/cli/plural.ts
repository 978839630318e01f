/** A count with its noun: `1 route`, `2 routes`, `3 deliveries`. */
export function plural(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`
  return `${count} ${/[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`}`
}
