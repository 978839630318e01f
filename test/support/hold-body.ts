import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

export interface HeldRequest {
  readonly line: string
  readonly token: string
  readonly json: unknown
}

/**
 * Sends the headers and a part of the body.
 * @returns sends the rest, and reads the response
 */
export function holdBody(
  url: string,
  { line, token, json }: HeldRequest,
): () => Promise<{ status: number | undefined; body: string }> {
  const [method = '', path = ''] = line.split(' ')
  const body = JSON.stringify(json)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const sent = request(`${url}${path}`, { method, headers })
  sent.write(body.slice(0, 1))
  const answering = once(sent, 'response')
  return async () => {
    sent.end(body.slice(1))
    const [answer] = (await answering) as [IncomingMessage]
    return { status: answer.statusCode, body: await text(answer) }
  }
}
