const keptBytes = 4096
/** Enough for any page of an error; who sends more is cut off. */
const mostBytes = 1024 * 1024

/** An answer's body as it comes in. */
export interface Answer {
  /** Takes the next part. @returns why no more of it is wanted: one of more than 1 MB is a failure */
  add(part: Buffer): string | undefined
  /** The first 4 KB. NUL is left out, since PostgreSQL has no text with it. */
  text(): string
}

/** Counts an answer to its end, so that its connection can be used again, and keeps its beginning. */
export function makeAnswer(): Answer {
  const kept: Buffer[] = []
  let size = 0
  return {
    add(part) {
      // A copy, or a few bytes would keep all that came with them in memory.
      if (size < keptBytes) kept.push(Buffer.from(part.subarray(0, keptBytes - size)))
      size += part.length
      return size <= mostBytes ? undefined : 'a response larger than 1 MB'
    },
    text: () => (kept.length === 0 ? '' : toText(kept)),
  }
}

/** Without the character that the cut went through. */
function toText(parts: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(parts), { stream: true }).replaceAll('\0', '')
}
