/** How long a test file takes, beside others on a machine of two processors. Includes the processes that it starts. */
export interface FileTimes {
  readonly seconds: number
  readonly cpu: number
}

/** A process loads what most files share in this time, so fewer seconds of tests are not worth another process. */
const minSeconds = 10
/** Of a file that has not been measured. */
const unknown: FileTimes = { seconds: 5, cpu: 2 }
/** The part of a full share that the last one takes. */
const lastPart = 1 / 6

/**
 * Divides test files between processes by the time that they take, the longest first.
 * @param concurrency how many processes run at the same time
 * @returns the files of each process, in the order in which the processes should start. The last one is small: the
 * process that is done early does its work. Each takes more than ten seconds of CPU time to load in a new checkout.
 */
export function shareFiles(
  files: readonly string[],
  times: Readonly<Record<string, FileTimes>>,
  concurrency: number,
): readonly (readonly string[])[] {
  const timesOf = (file: string) => times[file] ?? unknown
  const total = files.reduce((sum, file) => sum + timesOf(file).seconds, 0)
  const count = Math.max(1, Math.min(concurrency, files.length, Math.ceil(total / minSeconds)))
  const smallCount = total / count > 10 * minSeconds ? 1 : 0
  const shares = Array.from({ length: count + smallCount }, (_, index) => ({
    part: index < count ? 1 : lastPart,
    seconds: 0,
    files: [] as string[],
  }))
  for (const file of files.toSorted((a, b) => timesOf(b).seconds - timesOf(a).seconds)) {
    const { seconds } = timesOf(file)
    const fullness = (share: (typeof shares)[number]) => (share.seconds + seconds) / share.part
    const emptiest = shares.reduce((a, b) => (fullness(b) < fullness(a) ? b : a))
    emptiest.files.push(file)
    emptiest.seconds += seconds
  }
  // Half of the processes begin with files that compute, the others with files that wait.
  const busy = (file: string) => timesOf(file).cpu / Math.max(timesOf(file).seconds, 0.1)
  return shares
    .filter((share) => share.files.length > 0)
    .map((share, index) => share.files.toSorted((a, b) => (index % 2 === 0 ? busy(b) - busy(a) : busy(a) - busy(b))))
}
