import { gzipSync } from 'node:zlib'
import { messageOf, userAgent } from '../../../kit/index.ts'
import { errors } from './errors.ts'
import { printable } from './check-response.ts'

export interface ServerRequest {
  /** Without a trailing slash. */
  readonly server: string
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as gzipped JSON. */
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly fetch: typeof globalThis.fetch
  readonly signal?: AbortSignal | undefined
}

export interface RemoteResponse {
  readonly status: number
  readonly headers: Headers
  /** Undefined if it is not JSON. */
  readonly body: unknown
  /** The number of bytes sent. */
  readonly sentBytes: number
}

const defaultTimeoutMs = 60_000
const maxBytes = 64 * 1024 * 1024

/**
 * Sends a request and reads the whole response, whatever its status. Redirects are not followed, because credentials
 * are only for the given server.
 * @throws WP_PROJECT_REMOTE_UNREACHABLE, WP_PROJECT_REMOTE_REDIRECT
 */
export async function sendToServer(request: ServerRequest): Promise<RemoteResponse> {
  const { server, timeoutMs = defaultTimeoutMs, fetch } = request
  const { type, body } = writeBody(request)
  const headers = { accept: 'application/json', 'user-agent': userAgent, ...type, ...request.headers }
  try {
    const response = await fetch(server + request.path, {
      method: request.method,
      redirect: 'manual',
      headers,
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(request.signal ? [request.signal] : [])]),
      ...(body === undefined ? {} : { body }),
    })
    const text = await readText(response)
    const { status } = response
    if (status >= 300 && status < 400) throw redirectError(request, response)
    return { status, headers: response.headers, body: parse(text), sentBytes: body?.length ?? 0 }
  } catch (error) {
    throw explain(error, request, timeoutMs)
  }
}

function writeBody({ json, form }: ServerRequest) {
  if (form !== undefined) {
    return {
      type: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(String(new URLSearchParams(form))),
    }
  }
  if (json === undefined) return { type: {}, body: undefined }
  return {
    type: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify(json)),
  }
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > maxBytes) throw new Error('its response did not end in time')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function redirectError({ server, path }: ServerRequest, { headers }: Response): Error {
  const target = URL.parse(headers.get('location') ?? '', server)
  const base = target === null ? 'another address' : `${target.origin}${target.pathname}`.replace(path, '')
  return errors.WP_PROJECT_REMOTE_REDIRECT({ server, location: printable(base, 200) })
}

const dnsHint = 'Check the host name and the network of this machine.'
const proxyHint = 'Check HTTPS_PROXY, and whether the proxy allows this host. NO_PROXY lists hosts to reach without it.'
const tlsHint =
  'Check the address and the certificate of the server. To trust more certificates, set NODE_EXTRA_CA_CERTS to a file.'

function explain(error: unknown, { server }: ServerRequest, timeoutMs: number): unknown {
  if (!(error instanceof Error) || error.name === 'WaypostError') return error
  const cause = error.cause ?? error
  const { code = '' } = cause as NodeJS.ErrnoException
  const connectionError = (reason: string, hint: string) =>
    errors.WP_PROJECT_REMOTE_UNREACHABLE({ server, reason, hint }, { cause })
  if (error.name === 'TimeoutError') {
    return connectionError(
      `it did not respond within ${timeoutMs / 1000} s`,
      'Check that the server is running and try again.',
    )
  }
  const [, refused] = /^Proxy response \((\d+)\)/.exec(messageOf((cause as Error).cause ?? cause)) ?? []
  if (refused !== undefined) {
    const reason = `the proxy responded with status ${refused}`
    return errors.WP_PROJECT_REMOTE_UNREACHABLE({ server, reason, hint: proxyHint })
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return connectionError('the host name is unknown', dnsHint)
  if (code === 'ECONNREFUSED')
    return connectionError('connection refused', 'Check that the server is running, and check the port.')
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_/.test(code)) return connectionError(printable(messageOf(cause)), tlsHint)
  return connectionError(
    printable(messageOf(cause)) || 'the connection was closed',
    'Check that the server is running and try again.',
  )
}
