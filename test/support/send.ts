import { request, type Agent, type IncomingHttpHeaders } from 'node:http'
import { isJsonType } from '../../src/kit/index.ts'
import { answerChecks } from './answer-checks.ts'

export interface Sent {
  readonly method?: string
  /** Sent without normalization or encoding. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Everything except text and bytes is sent as JSON. */
  readonly body?: unknown
  readonly agent?: Agent
  readonly signal?: AbortSignal
  /** Why the response is not what `/openapi.json` describes. */
  readonly undescribed?: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body if it is JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the type of its response
  readonly body: any
}

/**
 * Sends a request unchanged and reads the whole response. That of a server of `openProjectServer` must be what its
 * `/openapi.json` describes.
 */
export function send(
  port: number,
  { method, path, headers = {}, body, agent, signal, undescribed }: Sent,
): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const content = body === undefined ? undefined : isRaw ? body : JSON.stringify(body)
  const type = body === undefined || isRaw ? {} : { 'content-type': 'application/json' }
  const length =
    content === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': Buffer.byteLength(content) }
  const check = undescribed === undefined ? answerChecks.get(port)?.() : undefined
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...type, ...length, ...headers },
        ...(agent === undefined ? {} : { agent }),
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8')
          const isJson = isJsonType(response.headers['content-type'] ?? '') && text !== ''
          const { headers, statusCode } = response
          const answer = { status: statusCode!, headers, text, body: isJson ? JSON.parse(text) : undefined }
          if (check === undefined) return resolve(answer)
          check({ method: call.method, path, ...answer }).then(() => resolve(answer), reject)
        })
      },
    )
    call.on('error', reject)
    call.end(content)
  })
}
