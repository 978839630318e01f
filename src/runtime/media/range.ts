/** A part of a body: its first and its last byte. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Parses the header `Range` (RFC 9110 §14.2) for a body of `size` bytes.
 * @returns undefined if all of the body is to be sent: for several ranges, another unit, or text that is not a range
 */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header.trim()) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? Infinity : Number(last)
  if (end < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) }
}
