const keptBytes = 4096
/** Enough for any page of an error; who sends more is cut off. */
const mostBytes = 1024 * 1024

/** The answer's body as a stream. */
export interface AnswerBody extends AsyncIterable<Buffer> {
  destroy(): unknown
  on(event: 'error', listener: () => void): unknown
}

/**
 * Reads an answer to its end, so that its connection can be used again, and keeps the first 4 KB as text; one of more
 * than 1 MB is a failure. NUL is left out, since PostgreSQL has no text with it.
 */
export async function readAnswer(body: AnswerBody): Promise<{ answer: string; failure?: string }> {
  body.on('error', () => undefined)
  const kept: Buffer[] = []
  let size = 0
  for await (const part of body) {
    if (size < keptBytes) kept.push(part.subarray(0, keptBytes - size))
    size += part.length
    if (size <= mostBytes) continue
    body.destroy()
    return { answer: toText(kept), failure: 'an answer of more than 1 MB' }
  }
  return { answer: toText(kept) }
}

/** Without the character that the cut went through. */
function toText(parts: readonly Buffer[]): string {
  return new TextDecoder().decode(Buffer.concat(parts), { stream: true }).replaceAll('\0', '')
}
