/** Returns microseconds of a monotonic clock that all processes of this machine share. */
export function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
