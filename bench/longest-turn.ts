/**
 * Measures the longest computation of this thread between two runs of a timer, in milliseconds of processor time. Other
 * processes make requests wait as well, but do not count here.
 * @returns a function that returns it and begins again
 */
export function watchTurns(): () => number {
  let longest = 0
  let last = process.threadCpuUsage()
  const turn = () => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
  }
  setInterval(turn, 5).unref()
  return () => {
    turn()
    const found = longest
    longest = 0
    return found
  }
}
