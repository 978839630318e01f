/** The upper bounds of the latency buckets of statistics in milliseconds. The last bucket has none. */
export const latencyBoundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000] as const
