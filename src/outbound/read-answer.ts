const keptBytes = 4096
/** More than enough for any error page; longer responses are aborted. */
const maxBytes = 1024 * 1024

/** The body of a response while it is received. */
export interface Answer {
  /** Adds a chunk. @returns the reason to stop reading: more than 1 MB is a failure */
  add(part: Buffer): string | undefined
  /** The first 4 KB. NUL is removed, because PostgreSQL cannot store it. */
  text(): string
}

/** Reads a response to its end, so that the connection can be reused, and keeps the beginning. */
export function makeAnswer(): Answer {
  const chunks: Buffer[] = []
  let size = 0
  return {
    add(part) {
      // Copied, because a slice would keep the whole chunk in memory.
      if (size < keptBytes) chunks.push(Buffer.from(part.subarray(0, keptBytes - size)))
      size += part.length
      return size <= maxBytes ? undefined : 'a response larger than 1 MB'
    },
    text: () => (chunks.length === 0 ? '' : toText(chunks)),
  }
}

/** Decodes without the character that was cut in the middle. */
function toText(parts: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(parts), { stream: true }).replaceAll('\0', '')
}
