import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { Connections, type Respond, type ConnectionLimits } from './connections.ts'
import { errors } from './errors.ts'
import type { Generation } from './generation.ts'
import { isHealthRequest } from './health.ts'
import { LeanRequest, LeanResponse } from './lean-messages.ts'
import { listen, type Address } from './listen.ts'
import type { Pressure } from './pressure.ts'
import { ServingGeneration } from './serving-generation.ts'
import type { WaypostError } from '../kit/index.ts'
import { makeProblemBody, problemTypeOf } from './problem.ts'

/** The socket of a server. It stays open while generations are swapped. */
export interface Gateway {
  readonly port: number
  readonly host: string
  /** Sends new requests to this generation. The previous one is closed after its last response. */
  swap(generation: Generation): void
  /**
   * Makes new requests wait for up to 10 s, until the returned function is called, so that in `dev` no request is
   * answered by outdated code. With nested holds, all of them must be released.
   */
  hold(): () => void
  /** Ends the wait of requests since the server began to listen, if `isStarting` was set. */
  started(): void
  /**
   * Responds to all requests, but asks each client to open a new connection for the next one, because this server is about
   * to stop.
   */
  drain(): void
  /**
   * Rejects new requests with 503, ends streams that have begun, waits up to `graceMs` for other requests in flight, then
   * closes. After `drain`, connections that the operating system has already established are answered first.
   */
  close(graceMs?: number): Promise<void>
}

export interface GatewayOptions extends Address {
  readonly generation: Generation
  /**
   * Makes requests wait until `started` is called, and rejects them after 10 s, because the generation cannot answer all of
   * them yet. Anything that is done after listening would be too late.
   */
  readonly isStarting?: boolean | undefined
  /** While pressure is high, all requests except health probes are rejected. */
  readonly pressure?: Pressure | undefined
  /** 10,000 connections by default. */
  readonly connections?: ConnectionLimits | undefined
  /** Checks the `Host` header of each request. @returns the host name if it is not allowed */
  refusedHost?: ((header: string | undefined) => string | undefined) | undefined
  /** Protects the pages of the backend and the portal from scripts of user routes. @returns why a request is rejected */
  protectPages?: ((request: IncomingMessage) => WaypostError | undefined) | undefined
  /** Called when a connection could not be accepted. The server keeps running. */
  onError?(error: Error): void
}

const serverOptions: ServerOptions<typeof LeanRequest, typeof LeanResponse<LeanRequest>> = {
  IncomingMessage: LeanRequest,
  ServerResponse: LeanResponse,
  requestTimeout: 6 * 3_600_000, // of uploads; `Connections` ends the bodies of others
  headersTimeout: 20_000,
  connectionsCheckingInterval: 1000, // by default, these limits would be noticed up to 30 s late
  // Longer than load balancers keep idle connections, so that they do not send into a closed one
  keepAliveTimeout: 72_000,
  joinDuplicateHeaders: true, // otherwise Node would silently drop one of two Authorization headers
  optimizeEmptyRequests: true, // since Node 24.12: a GET without a body has no stream to read and close
}

/** Opens the gateway. @throws WP_RUNTIME_PORT, WP_RUNTIME_REUSE_PORT, WP_RUNTIME_LISTEN */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  let current = new ServingGeneration(options.generation)
  let isDraining = false
  let isClosing = false
  const retired = new Set<Promise<void>>()
  const holds = makeRequestHolds()
  const started = options.isStarting === true ? holds.hold(true) : () => undefined

  function retire(one: ServingGeneration): void {
    const closed = one.retire()
    retired.add(closed)
    void closed.then(() => retired.delete(closed))
  }

  const accept: Respond = (request, response, caller) => {
    const refusal = isClosing
      ? errors.WP_RUNTIME_CLOSING()
      : (resolveTarget(request) ?? findRefusal(request, options, connections))
    if (refusal !== undefined) return rejectRequest(response, refusal)
    const released = holds.released()
    if (released === undefined || isLivenessRequest(request)) return respond(request, response, caller)
    void released.then(() => {
      if (holds.isStarting()) rejectRequest(response, errors.WP_RUNTIME_STARTING())
      else respond(request, response, caller)
    })
  }
  const respond: Respond = (request, response, caller) => {
    if (response.closed) return // the caller disconnected while the request was held
    if (isDraining) response.shouldKeepAlive = false
    current.respond(request, response, caller)
  }
  const connections = new Connections(options.connections ?? { maxConnections: 10_000 }, accept, () => {
    if (isClosing) server.closeIdleConnections() // otherwise the connection would stay open for another request
  })
  const server = createServer(serverOptions, connections.accept) as unknown as Server
  connections.watch(server)
  await listen(server, options)
  server.on('clientError', rejectMalformed)
  // Errors of accept, such as a lack of file descriptors or memory
  server.on('error', (error) => options.onError?.(error))
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
    hold: () => holds.hold(),
    started,
    drain() {
      isDraining = true
    },
    async close(graceMs = 10_000) {
      // Callers that wait for a response open no other connection, so the last one is accepted soon.
      const respondToAccepted = isDraining && !isClosing ? holds.hold() : () => undefined
      if (isDraining && !isClosing) await acceptEstablished(server)
      isClosing = true
      const stopStreams = () => connections.stopStreams()
      stopStreams()
      const stopping = setInterval(stopStreams, streamCheckMs) // requests in flight may still begin some
      const closed = closeServer(server, graceMs)
      respondToAccepted()
      await closed
      clearInterval(stopping)
      retire(current)
      await Promise.all(retired)
    },
  }
}

function findRefusal(
  request: IncomingMessage,
  options: GatewayOptions,
  connections: Connections,
): WaypostError | undefined {
  if (options.pressure?.isHigh() && !isHealthRequest(request)) return errors.WP_RUNTIME_PRESSURE()
  if (connections.isFull(request.socket) && !isHealthRequest(request)) return errors.WP_RUNTIME_UNREAD()
  const host = options.refusedHost?.(request.headers.host)
  return host === undefined ? options.protectPages?.(request) : errors.WP_RUNTIME_HOST({ host })
}

/** Responds to what Node could not parse as a request, and closes the connection. */
function rejectMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  // As Node does: a response that has begun, or that earlier requests of the connection wait for, must not be mixed up.
  const { _httpMessage: current } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null }
  if (error.code === 'ECONNRESET' || !socket.writable || (current ?? undefined) !== undefined) {
    socket.destroy()
    return
  }
  const { status, headers, body } = describeRejection(describeMalformed(error))
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`, () => socket.destroy())
}

function describeMalformed(error: NodeJS.ErrnoException & { readonly reason?: string }): WaypostError {
  switch (error.code) {
    case 'HPE_INVALID_URL':
      return errors.WP_RUNTIME_TARGET()
    case 'HPE_HEADER_OVERFLOW':
      return errors.WP_RUNTIME_HEADERS_SIZE()
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errors.WP_RUNTIME_SLOW()
    default:
      return errors.WP_RUNTIME_HTTP({ reason: error.reason ?? error.code ?? 'unknown' })
  }
}

const streamCheckMs = 200

const absoluteForm = /^https?:\/\/([^/?]*)(.*)$/is

/**
 * Replaces a target in absolute form, such as `GET http://example.com/a`, by its path. Its host replaces the `Host` header
 * (RFC 9112, section 3.2.2).
 * @returns why a request is rejected: of two `Host` headers, a proxy may have checked the other one
 */
function resolveTarget(request: IncomingMessage): WaypostError | undefined {
  const { url = '', headers } = request
  if (headers.host?.includes(', ')) return errors.WP_RUNTIME_HOSTS() // as Node joins several
  if (url.startsWith('/')) return undefined
  const [, host, path = ''] = absoluteForm.exec(url) ?? []
  if (host === undefined) return undefined
  headers.host = host
  request.url = path.startsWith('/') ? path : `/${path}`
  return undefined
}

function isLivenessRequest({ url }: IncomingMessage): boolean {
  return url === '/health/live'
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(cut)
}

const quietMs = 30
const maxAcceptMs = 1000

/**
 * Waits until no connection has arrived for a moment. Closing the socket resets connections that are established but not
 * yet accepted, and a proxy then fails a POST with 502.
 */
async function acceptEstablished(server: Server): Promise<void> {
  let accepted = 0
  const count = () => (accepted += 1)
  server.on('connection', count)
  const end = performance.now() + maxAcceptMs
  for (let before = -1; before !== accepted && performance.now() < end;) {
    before = accepted
    await pause(quietMs)
    await nextTurn() // if this process stood still, connections are accepted only now
  }
  server.off('connection', count)
}

const maxHoldMs = 10_000

/** Holds that make requests wait. */
export interface RequestHolds {
  /** Resolves when every hold has been released or has timed out; undefined if there are none. */
  released(): Promise<unknown> | undefined
  /** Whether the server is still starting. */
  isStarting(): boolean
  hold(isStarting?: boolean): () => void
}

export function makeRequestHolds(): RequestHolds {
  const holds = new Set<Promise<void>>()
  let starting = 0
  return {
    released: () => (holds.size === 0 && starting === 0 ? undefined : Promise.all(holds)),
    isStarting: () => starting > 0,
    hold(isStarting = false) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(end, maxHoldMs)
      let isHeld = true
      holds.add(promise)
      if (isStarting) starting += 1
      function end(): void {
        clearTimeout(timer)
        holds.delete(promise)
        resolve()
      }
      return () => {
        if (isStarting && isHeld) starting -= 1
        isHeld = false
        end()
      }
    },
  }
}

/** Responds to a request without a generation and closes its connection, so that the client may reach another server. */
function rejectRequest(response: LeanResponse, error: WaypostError): void {
  const { status, headers, body } = describeRejection(error)
  response.observer = undefined // the next request of the connection is not answered
  response.writeHead(status, headers).end(body)
}

function describeRejection(error: WaypostError) {
  const { status, hint } = error
  const problem = makeProblemBody(problemTypeOf(error), status, error.message)
  const body = JSON.stringify(hint === undefined ? problem : { ...problem, hint })
  const headers = {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 503 ? { 'retry-after': String(error.retryAfterSeconds ?? 1) } : {}),
    connection: 'close',
  }
  return { status, headers, body }
}
