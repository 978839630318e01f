const keptBytes = 4096
/** More than enough for any error page; longer responses are aborted. */
const maxBytes = 1024 * 1024

/** The body of a response while it is received. */
export interface ResponseText {
  /** Adds a chunk. @returns the reason to stop reading: more than 1 MB is a failure */
  add(part: Buffer): string | undefined
  /** The first 4 KB. NUL is removed, because PostgreSQL cannot store it. */
  text(): string
}

/** Reads a response to its end, so that the connection can be reused, and keeps the beginning. */
export function makeResponseText(): ResponseText {
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

export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Names and values of headers, in the order of the response. The value is null if it may be secret. */
export type KeptHeaders = readonly (readonly [name: string, value: string | null])[]

const maxHeaders = 32
const maxHeaderLength = 512
const maxHeadersLength = 2048

/** Names of headers whose values are not kept: cookies, credentials and keys. */
const secretNames = /cookie|auth|token|secret|password|session|credential|signature|api-?key/i

/** Headers of the connection (RFC 9110 §7.6.1), which say nothing of the response. */
const connectionNames = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te'])

/**
 * Returns the first headers of a response, without those of the connection: at most 32, with 512 characters each and 2,048 in total. Never contains the
 * values of cookies and credentials.
 */
export function keepHeaders(headers: ReceivedHeaders): KeptHeaders {
  const kept: [string, string | null][] = []
  let length = 0
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || connectionNames.has(name)) continue
    const whole = typeof value === 'string' ? value : value.join(', ')
    const text = secretNames.test(name) ? null : whole.slice(0, maxHeaderLength)
    length += name.length + (text?.length ?? 0)
    if (kept.length === maxHeaders || length > maxHeadersLength) break
    kept.push([name, text])
  }
  return kept
}
