import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../kit/index.ts'
import { errors } from './errors.ts'
import type { Generation } from './generation.ts'

/** The one socket of a server. It stays open while generations come and go behind it. */
export interface Listener {
  readonly port: number
  readonly host: string
  /** Requests from now on go to this generation; the one before is closed when its last request has been answered. */
  swap(generation: Generation): void
  /**
   * Lets new requests wait, at most 10 s, until the given function is called: in `dev` none sees code that is already gone.
   * Nested holds all have to be let go.
   */
  hold(): () => void
  /** Answers 503 to new requests, waits for those in flight up to a limit, then closes. */
  close(graceMs?: number): Promise<void>
}

interface Current {
  readonly generation: Generation
  inFlight: number
  retired: boolean
}

const longestHoldMs = 10_000

/** Listens. @throws WP_RUNTIME_PORT, WP_RUNTIME_LISTEN */
export async function openListener(options: { host: string; port: number; generation: Generation }): Promise<Listener> {
  let current: Current = { generation: options.generation, inFlight: 0, retired: false }
  let isClosing = false
  const closings = new Set<Promise<void>>()
  const holds = new Set<Promise<void>>()

  function retireWhenIdle(one: Current): void {
    if (!one.retired || one.inFlight > 0) return
    const closing = one.generation.close().catch(() => undefined)
    closings.add(closing)
    void closing.finally(() => closings.delete(closing))
  }

  const server = createServer({ requestTimeout: 60_000, headersTimeout: 20_000 }, (request, response) => {
    if (isClosing) return refuse(response)
    if (holds.size > 0) void Promise.all(holds).then(() => answer(request, response))
    else answer(request, response)
  })
  function answer(request: IncomingMessage, response: ServerResponse): void {
    const serving = current
    serving.inFlight++
    response.on('close', () => {
      serving.inFlight--
      retireWhenIdle(serving)
    })
    serving.generation.handle(request, response)
  }
  await listen(server, options)
  const { port } = server.address() as AddressInfo

  return {
    port,
    host: options.host,
    swap(generation) {
      const before = current
      current = { generation, inFlight: 0, retired: false }
      before.retired = true
      retireWhenIdle(before)
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(letGo, longestHoldMs)
      holds.add(promise)
      function letGo(): void {
        clearTimeout(timer)
        holds.delete(promise)
        resolve()
      }
      return letGo
    },
    async close(graceMs = 10_000) {
      isClosing = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(cut)
      current.retired = true
      if (current.inFlight === 0) retireWhenIdle(current)
      await Promise.all(closings)
    },
  }
}

function refuse(response: ServerResponse): void {
  const { status, message } = errors.WP_RUNTIME_CLOSING()
  response.writeHead(status, { 'content-type': 'application/problem+json', 'retry-after': '1', connection: 'close' })
  response.end(JSON.stringify({ type: 'about:blank', title: 'Service Unavailable', status, detail: message }))
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE') throw errors.WP_RUNTIME_PORT({ host, port, next: port + 1 }, { cause })
    throw errors.WP_RUNTIME_LISTEN({ host, port, reason: messageOf(cause) }, { cause })
  }
}
