import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** Maximum number of open connections. */
  readonly maxConnections: number
  /** Called when a connection is closed because of the limit, at most once a minute. */
  onFull?(maxConnections: number): void
}

/** Answers a request, and calls `ended` when the response has ended. */
export type Answer = (request: IncomingMessage, response: ServerResponse, ended: () => void) => void

interface Connection {
  readonly socket: Socket
  isBusy: boolean
  /** Requests that arrived before the previous ones were answered. */
  readonly queue: (Exchange & {
    /** The number of bytes read from the connection when the request arrived. */
    readonly position: number
  })[]
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Maximum number of waiting requests per connection; more than pipelining clients send. */
const maxQueuedRequests = 32
/** Maximum number of bytes read after the first waiting request. */
const maxQueuedBytes = 128 * 1024
/** How long a client may read nothing of a response. */
const stallTimeoutMs = 60_000
const warnIntervalMs = 60_000

/** The open connections of a server. Limits their number and the memory that each can use. */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #answer: Answer
  readonly #open = new Map<Socket, Connection>()
  /** Connections without a request, longest idle first. */
  readonly #idle = new Set<Connection>()
  #warnedAt = -Infinity

  constructor(limits: ConnectionLimits, answer: Answer) {
    this.#limits = limits
    this.#answer = answer
  }

  /**
   * Starts to track the connections of a server. When the limit is reached, a new connection replaces the longest idle
   * one.
   */
  watch(server: Server): void {
    server.timeout = stallTimeoutMs
    server.on('connection', (socket: Socket) => this.#add(socket))
    server.on('timeout', (socket: Socket) => {
      // Wait only for actions that are still running.
      const isComputing = this.#open.get(socket)?.isBusy === true && socket.writableLength === 0
      if (!isComputing) this.#close(socket)
    })
  }

  /**
   * Answers a request after all earlier requests of its connection. Otherwise all responses to a client that pipelines
   * but does not read would be in memory at once.
   */
  readonly accept = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = this.#open.get(request.socket)
    if (connection === undefined) return
    if (!connection.isBusy) return this.#start(connection, { request, response })
    // Node continues to parse the following requests and buffers up to 64 KB of each body. Pausing the socket instead
    // would hide a broken connection.
    const position = request.socket.bytesRead
    const [first] = connection.queue
    const isLarge = first !== undefined && position - first.position > maxQueuedBytes
    if (isLarge || connection.queue.length >= maxQueuedRequests) this.#close(request.socket)
    else connection.queue.push({ request, response, position })
  }

  #add(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) this.#makeRoom(socket)
    if (socket.destroyed) return
    const connection = { socket, isBusy: false, queue: [] }
    this.#open.set(socket, connection)
    this.#idle.add(connection)
    socket.once('close', () => this.#remove(socket))
  }

  #makeRoom(newcomer: Socket): void {
    const { maxConnections, onFull } = this.#limits
    const [longestIdle] = this.#idle
    this.#close(longestIdle?.socket ?? newcomer)
    const now = performance.now()
    if (now - this.#warnedAt < warnIntervalMs) return
    this.#warnedAt = now
    onFull?.(maxConnections)
  }

  #start(connection: Connection, { request, response }: Exchange): void {
    connection.isBusy = true
    this.#idle.delete(connection)
    this.#answer(request, response, () => this.#startNext(connection))
  }

  #startNext(connection: Connection): void {
    if (!this.#open.has(connection.socket)) return
    const next = connection.queue.shift()
    if (next !== undefined) return this.#start(connection, next)
    connection.isBusy = false
    this.#idle.add(connection)
  }

  #close(socket: Socket): void {
    this.#remove(socket)
    socket.destroy()
  }

  #remove(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    this.#open.delete(socket)
    this.#idle.delete(connection)
    connection.queue.length = 0
  }
}
