import { readFileSync } from 'node:fs'

/**
 * Measures the longest time between two runs of a timer of 5 ms, in milliseconds, less the time for which this thread
 * waited for a processor: what other processes compute does not count, what this one waits for itself, such as a disk, does.
 * @returns a function that returns it and begins again
 */
export function watchTurns(): () => number {
  let longest = 0
  let last = read()
  const turn = () => {
    const now = read()
    longest = Math.max(longest, now.elapsed - last.elapsed - (now.waited - last.waited))
    last = now
  }
  setInterval(turn, 5).unref()
  return () => {
    turn()
    const found = longest
    longest = 0
    return found
  }
}

function read() {
  const [, nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')
  return { elapsed: performance.now(), waited: Number(nanoseconds) / 1e6 }
}
