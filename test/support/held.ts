/** What a process holds after a full collection. */
export interface Held {
  readonly heapBytes: number
  /** How many of each kind keep the event loop busy, as Node names them. */
  readonly resources: Readonly<Record<string, number>>
  /** Open file descriptors; 0 where the system does not list them. */
  readonly descriptors: number
}

/** Of what a process holds more than it did, memory apart. */
export function listMore(before: Held, now: Held): string[] {
  const counts = { ...now.resources, descriptors: now.descriptors }
  const known: Readonly<Record<string, number>> = { ...before.resources, descriptors: before.descriptors }
  return Object.entries(counts)
    .filter(([name, count]) => count > (known[name] ?? 0))
    .map(([name, count]) => `${name}: ${known[name] ?? 0}, now ${count}`)
}
