import type { SuggestedRequest } from '../../src/project/index.ts'

export interface CurlOptions {
  readonly url: string
  readonly user: string
  /** A token as it is; by default the command that issues one. */
  readonly token?: string
}

/** The lines of a command that sends a request; pasted together they are one. */
export function formatCurl(request: SuggestedRequest, { url, user, token }: CurlOptions): readonly string[] {
  const start = [
    'curl',
    ...(request.method === (request.body === undefined ? 'GET' : 'POST') ? [] : [`-X ${request.method}`]),
    quote(url.replace(/^http:\/\//, '') + request.path),
    ...(request.needsToken
      ? [`-H "Authorization: Bearer ${token ?? `$(npx waypost token:issue --user ${user})`}"`]
      : []),
  ]
  if (request.body === undefined) return [start.join(' ')]
  const body = `--json '${request.body.replaceAll("'", String.raw`'\''`)}'`
  return request.needsToken ? [`${start.join(' ')} \\`, body] : [`${start.join(' ')} ${body}`]
}

/** A shell takes what stands in a query for its own. */
function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
