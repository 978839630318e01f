/** What a process holds after a full garbage collection. */
export interface Held {
  readonly heapBytes: number
  /** Resident memory, as the operating system counts it. */
  readonly rssBytes: number
  /** The number of active resources of each type, as Node names them. */
  readonly resources: Readonly<Record<string, number>>
  /** Open file descriptors; 0 if the operating system does not list them. */
  readonly descriptors: number
}

/** Lists what a process holds more of than before, except memory. */
export function listMore(before: Held, now: Held): string[] {
  const counts = { ...now.resources, descriptors: now.descriptors }
  const known: Readonly<Record<string, number>> = { ...before.resources, descriptors: before.descriptors }
  return Object.entries(counts)
    .filter(([name, count]) => count > (known[name] ?? 0))
    .map(([name, count]) => `${name}: ${known[name] ?? 0}, now ${count}`)
}
