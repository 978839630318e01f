/** Microseconds on a clock that all processes of this machine share and nobody sets. */
export function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
