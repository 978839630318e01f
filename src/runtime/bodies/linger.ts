import { IncomingMessage } from 'node:http'

const maxBytes = 256 * 1024
const maxMs = 1000

/** Requests of whose bodies a part was not passed on. */
const cutOff = new WeakSet<object>()

/** Whether the rest of a body is not for its reader, because the response has ended. */
export function isCutOff(request: object): boolean {
  return cutOff.has(request)
}

/**
 * Ends the connection of a request whose response has ended before its body. Reads a little more of the body, and waits:
 * a client whose connection is closed while it sends may not read the response.
 */
export function linger(request: unknown): void {
  if (!(request instanceof IncomingMessage) || request.complete || request.socket.destroyed) return
  cutOff.add(request)
  let left = maxBytes
  const timer = setTimeout(() => request.socket.destroy(), maxMs).unref()
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.pause()
  })
  request.on('error', () => undefined)
  for (const event of ['end', 'close']) request.once(event, () => clearTimeout(timer))
  request.resume()
}
