import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../kit/index.ts'
import { errors } from './errors.ts'
import type { Generation } from './generation.ts'
import { bodyOf, typeOf } from './problem.ts'
import { ServingGeneration } from './serving-generation.ts'

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

const longestHoldMs = 10_000

const serverOptions: ServerOptions = {
  requestTimeout: 60_000,
  headersTimeout: 20_000,
  keepAliveTimeout: 72_000, // longer than load balancers keep theirs, or they would send into a closed one
  joinDuplicateHeaders: true, // of two Authorization headers Node would drop one, and nobody would know which counted
  optimizeEmptyRequests: true, // since Node 24.12: a GET has no stream to be read and closed
}

/** Listens. @throws WP_RUNTIME_PORT, WP_RUNTIME_LISTEN */
export async function openListener(options: { host: string; port: number; generation: Generation }): Promise<Listener> {
  let current = new ServingGeneration(options.generation)
  let isClosing = false
  const retired = new Set<Promise<void>>()
  const holds = makeHolds()

  function retire(one: ServingGeneration): void {
    const closed = one.retire()
    retired.add(closed)
    void closed.then(() => retired.delete(closed))
  }

  const server = createServer(serverOptions, (request, response) => {
    if (isClosing) return refuse(response)
    const letGo = holds.all()
    if (letGo === undefined) answer(request, response)
    else void letGo.then(() => answer(request, response))
  })
  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (response.closed) return // its caller went while it was held
    current.answer(request, response, () => {
      if (isClosing) server.closeIdleConnections() // or the connection would be kept for the next request
    })
  }
  await listen(server, options)
  const { port } = server.address() as AddressInfo

  return {
    port,
    host: options.host,
    swap(generation) {
      const before = current
      current = new ServingGeneration(generation)
      retire(before)
      if (isClosing) retire(current)
    },
    hold: holds.hold,
    async close(graceMs = 10_000) {
      isClosing = true
      await closeServer(server, graceMs)
      retire(current)
      await Promise.all(retired)
    },
  }
}

/** Reasons to let requests wait. */
function makeHolds() {
  const holds = new Set<Promise<void>>()
  return {
    /** When every hold was let go; undefined while there is none. */
    all: () => (holds.size === 0 ? undefined : Promise.all(holds)),
    hold(): () => void {
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
  }
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(cut)
}

function refuse(response: ServerResponse): void {
  const error = errors.WP_RUNTIME_CLOSING()
  response.writeHead(error.status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'retry-after': '1',
    connection: 'close',
  })
  response.end(JSON.stringify(bodyOf(typeOf(error), error.status, error.message)))
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
    if (code === 'EADDRINUSE')
      throw errors.WP_RUNTIME_PORT({ host, port, next: port === 65_535 ? port - 1 : port + 1 }, { cause })
    throw errors.WP_RUNTIME_LISTEN({ host, port, reason: messageOf(cause) }, { cause })
  }
}
