/** A line of a log. */
export interface LoggedLine {
  readonly level: number
  /** Milliseconds since 1970. */
  readonly time: number
  readonly msg: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** What a `Date` can be. */
const maxTime = 8.64e15

/** @returns the number of lines that were left out; undefined if it is not a line of a log */
export function readLine(text: string): LoggedLine | number | undefined {
  try {
    const { level, time, msg, left, ...fields } = JSON.parse(text) as Record<string, unknown>
    if (typeof left === 'number' && level === undefined) return left
    // An action may log fields with these names, which are then those of the line.
    if (typeof level !== 'number' || typeof time !== 'number' || Math.abs(time) > maxTime) return undefined
    const all = left === undefined ? fields : { ...fields, left }
    return { level, time, msg: typeof msg === 'string' ? msg : '', fields: all }
  } catch {
    return undefined
  }
}
