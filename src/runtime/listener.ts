import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Connections, type ConnectionLimits } from './connections.ts'
import { errors } from './errors.ts'
import type { Generation } from './generation.ts'
import { isAboutHealth } from './health.ts'
import { makeHolds } from './holds.ts'
import { listen, type Address } from './listen.ts'
import type { Pressure } from './pressure.ts'
import { refuse } from './refuse.ts'
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
   * @param isStarting what waits longer than that is refused: there is nothing yet that could answer it
   */
  hold(isStarting?: boolean): () => void
  /** Answers all that comes, and tells each caller to open another connection next time: this one will be gone. */
  drain(): void
  /** Answers 503 to new requests, waits for those in flight up to a limit, then closes. */
  close(graceMs?: number): Promise<void>
}

export interface ListenerOptions extends Address {
  readonly generation: Generation
  /** While it is high, what is not asked about the server's health is refused. */
  readonly pressure?: Pressure | undefined
  /** 10,000 connections by default. */
  readonly connections?: ConnectionLimits | undefined
  /** Looks at the `Host` header of each request. @returns the host where its requests are not answered */
  refusedHost?: ((header: string | undefined) => string | undefined) | undefined
  /** Called when a connection could not be accepted; the server goes on. */
  onError?(error: Error): void
}

const serverOptions: ServerOptions = {
  requestTimeout: 60_000,
  headersTimeout: 20_000,
  keepAliveTimeout: 72_000, // longer than load balancers keep theirs, or they would send into a closed one
  joinDuplicateHeaders: true, // of two Authorization headers Node would drop one, and nobody would know which counted
  optimizeEmptyRequests: true, // since Node 24.12: a GET has no stream to be read and closed
}

/** Listens. @throws WP_RUNTIME_PORT, WP_RUNTIME_REUSE_PORT, WP_RUNTIME_LISTEN */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { pressure } = options
  let current = new ServingGeneration(options.generation)
  let isDraining = false
  let isClosing = false
  const retired = new Set<Promise<void>>()
  const holds = makeHolds()

  function retire(one: ServingGeneration): void {
    const closed = one.retire()
    retired.add(closed)
    void closed.then(() => retired.delete(closed))
  }

  const connections = new Connections(options.connections ?? { most: 10_000 }, (request, response, ended) => {
    if (isClosing) return refuse(response, errors.WP_RUNTIME_CLOSING())
    if (pressure?.isHigh() && !isAboutHealth(request)) return refuse(response, errors.WP_RUNTIME_PRESSURE())
    const refusedHost = options.refusedHost?.(request.headers.host)
    if (refusedHost !== undefined) return refuse(response, errors.WP_RUNTIME_HOST({ host: refusedHost }))
    const letGo = holds.all()
    if (letGo === undefined || isAboutLife(request)) return answer(request, response, ended)
    void letGo.then(() => {
      if (holds.isStarting()) refuse(response, errors.WP_RUNTIME_STARTING())
      else answer(request, response, ended)
    })
  })
  function answer(request: IncomingMessage, response: ServerResponse, ended: () => void): void {
    if (response.closed) return // its caller went while it was held
    if (isDraining) response.shouldKeepAlive = false
    current.answer(request, response, () => {
      ended()
      if (isClosing) server.closeIdleConnections() // or the connection would be kept for the next request
    })
  }
  const server = createServer(serverOptions, connections.take)
  connections.watch(server)
  await listen(server, options)
  server.on('error', (error) => options.onError?.(error)) // of accept: no descriptors or no memory left, for example
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
    drain() {
      isDraining = true
    },
    async close(graceMs = 10_000) {
      isClosing = true
      await closeServer(server, graceMs)
      retire(current)
      await Promise.all(retired)
    },
  }
}

function isAboutLife({ url }: IncomingMessage): boolean {
  return url === '/health/live'
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(cut)
}
