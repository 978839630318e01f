import type { SuggestedRequest } from '../../src/project/index.ts'

export interface CurlOptions {
  readonly url: string
  readonly user: string
  /** The token; by default the command that issues one. */
  readonly token?: string
  /** The preferred maximum width of a line. */
  readonly width?: number
}

/** Returns the lines of a command that sends a request. Pasted together they are one command. */
export function formatCurl(request: SuggestedRequest, options: CurlOptions): readonly string[] {
  const { url, user, token, width = Infinity } = options
  const { body } = request
  const isPlain = request.method === (body === undefined ? 'GET' : 'POST')
  const parts = [
    `curl ${isPlain ? '' : `-X ${request.method} `}${quote(url.replace(/^http:\/\//, '') + request.path)}`,
    ...(request.needsToken
      ? [`-H "Authorization: Bearer ${token ?? `$(npx waypost token:issue --user ${user})`}"`]
      : []),
    ...(body === undefined ? [] : [`--json ${quoteText(body)}`]),
  ]
  return pack(parts, width)
}

/** Puts as many parts on each line as fit. All lines but the last end with a backslash. */
function pack(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + part.length + 3 <= width) lines[lines.length - 1] = `${last} ${part}`
    else lines.push(part)
  }
  return lines.map((line, index) => (index === lines.length - 1 ? line : `${line} \\`))
}

/** A shell would interpret characters of a query. */
function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : quoteText(text)
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
