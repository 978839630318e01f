export interface ProxyConfig {
  readonly connection: string
  readonly path: string
  readonly query?: readonly string[]
  readonly headers: { readonly request: readonly string[]; readonly response: readonly string[] }
}

export interface ProxyPlan {
  readonly format: 1
  /** The query parameters that are passed on. */
  readonly query: readonly string[]
  /** Statuses whose JSON is read, so that it is serialized by the schema of the method, or dispatched. */
  readonly json: readonly string[]
}

const maxEncodings = 5

/** Whether a segment of a path, once decoded as often as a server might, is `.` or `..`, or contains such a segment. */
export function isDotSegment(segment: string): boolean {
  let text = segment
  for (let round = 0; round <= maxEncodings; round++) {
    if (text.split(/[/\\]/).some((part) => part === '.' || part === '..')) return true
    const decoded = decode(text)
    if (decoded === text) return false
    text = decoded
  }
  return true
}

function decode(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
