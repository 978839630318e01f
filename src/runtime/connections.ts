import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../kit/index.ts'
import { countTaken } from './count-taken.ts'
import { joinWrites } from './joined-writes.ts'
import { LeanRequest, type LeanResponse, type ResponseObserver } from './lean-messages.ts'

export interface ConnectionLimits {
  /** Maximum number of open connections. */
  readonly maxConnections: number
  /** Called when a connection is closed because of the limit, at most once a minute. */
  onFull?(maxConnections: number): void
  /** Limits of responses that their clients have not read; defaults are for production. */
  readonly unread?: Partial<UnreadLimits>
}

/** Limits of responses that their clients have not read. */
export interface UnreadLimits {
  /** Bytes in memory above which requests are rejected. */
  readonly maxBytesToAccept: number
  /** Bytes in memory for callers of one network above which requests of that network are rejected. */
  readonly maxBytesOfNetwork: number
  /** Bytes in memory above which a response is not kept that its client does not read at once. */
  readonly maxBytesToKeep: number
  /** Repeats the check for stalled clients, by default each second. @returns a function that ends it */
  repeat(check: () => void): () => void
}

/** Set on the sockets of a server, for `isUnwelcome`. */
const connectionsOf = Symbol('connections')
type TrackedSocket = Socket & { [connectionsOf]?: Connections }

/** Responses up to this size are always sent. */
const smallBytes = 64 * 1024

/**
 * Whether a response should not be sent, because others that clients have not read have filled memory since its request
 * was accepted.
 */
export function isUnwelcome({ socket }: ServerResponse, bytes: number): boolean {
  if (bytes <= smallBytes || socket === null) return false
  return (socket as TrackedSocket)[connectionsOf]?.isFull(socket) === true
}

/** Responds to a request. */
export type Respond = (request: IncomingMessage, response: LeanResponse, caller: Caller) => void

/** Who gets the current response of a connection. */
export interface Caller {
  /** Told when the response has ended. */
  servedBy: { leave(): void } | undefined
}

interface Connection extends Caller {
  readonly socket: Socket
  readonly observer: ResponseObserver
  /** By which callers are counted; known once it was needed. */
  network: string | undefined
  isBusy: boolean
  /** Whether the client has sent a request before it had the response to the previous one. */
  isPipelining: boolean
  /** The request whose body may still be arriving, and for how many checks. */
  receiving: { readonly request: IncomingMessage; checks: number } | undefined
  /** Whether the client has sent a request with a body. */
  sendsBodies: boolean
  /**
   * The bytes that were read before the current request; undefined if the client has sent no body yet, because asking Node
   * for them takes a tenth of the time of a GET.
   */
  bytesBefore: number | undefined
  /** The current response. */
  response: LeanResponse | undefined
  /** The bytes in memory when the current response ended. */
  responseBytes: number
  /** The bytes that the client had taken at the last check, and for how many checks it has taken nothing. */
  readonly progress: { taken: number; checks: number }
  /** Requests that arrived before the previous ones were answered. */
  readonly queue: (Exchange & {
    /** The number of bytes read from the connection when the request arrived. */
    readonly position: number
  })[]
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: LeanResponse
}

/** Maximum number of waiting requests per connection; more than pipelining clients send. */
const maxQueuedRequests = 32
/** Maximum number of bytes read after the first waiting request. */
const maxQueuedBytes = 128 * 1024
const mb = 1024 * 1024
const defaultUnread: UnreadLimits = {
  maxBytesToAccept: 128 * mb,
  maxBytesOfNetwork: 64 * mb,
  maxBytesToKeep: 256 * mb,
  repeat(check) {
    const timer = setInterval(check, 1000).unref()
    return () => clearInterval(timer)
  },
}
/** For how many checks a client may take nothing of a response, 30 s. */
const maxStalledChecks = 30
/** Maximum number of pipelined requests that are answered in a turn of the event loop before all connections take turns. */
const maxPipelinedInTurn = 32
const warnIntervalMs = 60_000
/** For how many checks the first bytes of a body may arrive before the caller is known, 10 s. */
const maxReceivingChecks = 10
/** Number of bytes that must arrive in that time, unless the body is shorter. */
const minReceivedBytes = 16 * 1024
/** For how many checks a body may arrive, 60 s, unless its method accepts large ones. */
const maxBodyChecks = 60
/** How much Node reads of a socket at once. */
const maxReadBytes = 64 * 1024

/** The open connections of a server. Limits their number and the memory that each can use. */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #respond: Respond
  readonly #ended: (() => void) | undefined
  readonly #open = new Map<Socket, Connection>()
  /** Connections without a request, longest idle first. */
  readonly #idle = new Set<Connection>()
  /** Connections whose request has a body that may still be arriving, longest first. */
  readonly #receiving = new Set<Connection>()
  /** Connections whose next pipelined request waits for its turn, longest first. */
  readonly #waiting = new Set<Connection>()
  #isStartScheduled = false
  #pipelinedInTurn = 0
  /** The bytes of ended responses in memory. */
  #responseBytes = 0
  /** The bytes of other responses in memory at the last check: streams. */
  #streamBytes = 0
  readonly #unread: UnreadLimits
  #warnedAt = -Infinity

  /** @param ended called after each response */
  constructor(limits: ConnectionLimits, respond: Respond, ended?: () => void) {
    this.#limits = limits
    this.#respond = respond
    this.#ended = ended
    this.#unread = { ...defaultUnread, ...limits.unread }
  }

  /**
   * Whether responses that clients have not read take so much memory that a request must be rejected. What is accepted is
   * kept until its client reads it, so the callers of one network may not take all of the memory.
   */
  isFull(caller: Socket): boolean {
    const bytes = this.#responseBytes + this.#streamBytes
    if (bytes > this.#unread.maxBytesToAccept) return true
    return bytes > this.#unread.maxBytesOfNetwork && this.#countUnread(caller) > this.#unread.maxBytesOfNetwork
  }

  /**
   * Starts to track the connections of a server. When the limit is reached, a new connection replaces the longest idle
   * one, or one whose body is still arriving.
   */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#add(socket))
    server.on(
      'close',
      this.#unread.repeat(() => {
        this.#closeStalled()
        this.#closeSlow()
      }),
    )
  }

  /**
   * Responds to a request after all earlier requests of its connection. Otherwise all responses to a client that pipelines
   * but does not read would be in memory at once.
   */
  readonly accept = (request: IncomingMessage, response: LeanResponse): void => {
    const connection = this.#open.get(request.socket)
    if (connection === undefined) return
    if (!connection.isBusy) return this.#start(connection, { request, response })
    // Node continues to parse the following requests and buffers up to 64 KB of each body. Pausing the socket instead
    // would hide a broken connection.
    const position = request.socket.bytesRead
    const [first] = connection.queue
    const isLarge = first !== undefined && position - first.position > maxQueuedBytes
    if (isLarge || connection.queue.length >= maxQueuedRequests) return this.#close(request.socket)
    connection.queue.push({ request, response, position })
    if (connection.isPipelining) return
    connection.isPipelining = true
    joinWrites(request.socket, () => connection.queue.length > 0)
  }

  /** Ends the streams that have begun and may never end, because the server shuts down. */
  stopStreams(): void {
    for (const { response } of this.#open.values()) response?.stop()
  }

  #add(socket: Socket): void {
    if (this.#open.size >= this.#limits.maxConnections) this.#makeRoom(socket)
    if (socket.destroyed) return
    const connection: Connection = {
      socket,
      observer: { written: () => this.#written(connection), closed: () => this.#closed(connection) },
      servedBy: undefined,
      network: undefined,
      isBusy: false,
      isPipelining: false,
      receiving: undefined,
      sendsBodies: false,
      bytesBefore: 0,
      response: undefined,
      responseBytes: 0,
      progress: { taken: 0, checks: 0 },
      queue: [],
    }
    this.#open.set(socket, connection)
    ;(socket as TrackedSocket)[connectionsOf] = this
    this.#idle.add(connection)
    socket.once('close', () => this.#remove(socket))
  }

  #closeStalled(): void {
    this.#streamBytes = 0
    for (const connection of this.#open.values()) {
      const { socket, progress } = connection
      const { writableLength } = socket
      if (connection.responseBytes > 0) this.#count(connection, writableLength)
      else this.#streamBytes += writableLength
      const taken = countTaken(socket)
      progress.checks = writableLength > 0 && taken === progress.taken ? progress.checks + 1 : 0
      progress.taken = taken
      if (progress.checks >= maxStalledChecks) this.#close(socket)
    }
  }

  /** The bytes in memory for callers of the same network. */
  #countUnread(caller: Socket): number {
    const network = this.#networkOf(caller)
    let bytes = 0
    for (const socket of this.#open.keys()) {
      const { writableLength } = socket
      if (writableLength > 0 && this.#networkOf(socket) === network) bytes += writableLength
    }
    return bytes
  }

  #networkOf(socket: Socket): string {
    const connection = this.#open.get(socket)
    const known = connection?.network ?? networkOf(socket.remoteAddress ?? '')
    if (connection !== undefined) connection.network = known
    return known
  }

  #makeRoom(newcomer: Socket): void {
    const { maxConnections, onFull } = this.#limits
    const [longestIdle] = this.#idle
    this.#close((longestIdle ?? this.#findReceiving())?.socket ?? newcomer)
    const now = performance.now()
    if (now - this.#warnedAt < warnIntervalMs) return
    this.#warnedAt = now
    onFull?.(maxConnections)
  }

  /** Ends requests whose bodies take too long, and those of unknown callers whose bodies arrive byte by byte. */
  #closeSlow(): void {
    for (const connection of this.#receiving) {
      const { socket, receiving } = connection
      if (!isArriving(connection)) {
        this.#receiving.delete(connection)
        continue
      }
      const { request } = receiving!
      const checks = (receiving!.checks += 1)
      const received = socket.bytesRead - (connection.bytesBefore ?? 0)
      const isTiny = checks >= maxReceivingChecks && !isAuthorized(request) && received < minReceivedBytes
      if (isTiny || checks >= maxChecksOf(request)) this.#close(socket)
    }
  }

  /** Returns the connection whose body has been arriving longest, of an unknown caller if possible. */
  #findReceiving(): Connection | undefined {
    let known: Connection | undefined
    for (const connection of this.#receiving) {
      if (!isArriving(connection)) this.#receiving.delete(connection)
      else if (isAuthorized(connection.receiving!.request)) known ??= connection
      else return connection
    }
    return known
  }

  #start(connection: Connection, { request, response }: Exchange): void {
    connection.isBusy = true
    if (hasBody(request)) {
      connection.sendsBodies = true
      // A part of the body may have been read with the headers: at most as much as one read has.
      connection.bytesBefore ??= Math.max(0, connection.socket.bytesRead - maxReadBytes)
      connection.receiving = { request, checks: 0 }
      this.#receiving.add(connection)
    }
    connection.response = response
    this.#idle.delete(connection)
    response.observer = connection.observer
    this.#respond(request, response, connection)
  }

  #written(connection: Connection): void {
    this.#count(connection, connection.socket.writableLength)
    // Requests that were accepted before memory was full must not exhaust it.
    if (this.#responseBytes > this.#unread.maxBytesToKeep) setImmediate(() => this.#closeUnread(connection))
  }

  #closed(connection: Connection): void {
    connection.servedBy?.leave()
    connection.servedBy = undefined
    this.#count(connection, 0)
    this.#startNext(connection)
    this.#ended?.()
  }

  #startNext(connection: Connection): void {
    if (!this.#open.has(connection.socket)) return
    this.#receiving.delete(connection)
    if (connection.queue.length === 0) {
      connection.isBusy = false
      connection.receiving = undefined
      connection.bytesBefore = connection.sendsBodies ? connection.socket.bytesRead : undefined
      connection.response = undefined
      this.#idle.add(connection)
    } else if (this.#mayPipeline()) {
      this.#start(connection, connection.queue.shift()!)
    } else {
      this.#waiting.add(connection)
      this.#scheduleStart()
    }
  }

  /** Whether a pipelined request may start in this turn of the event loop. */
  #mayPipeline(): boolean {
    if (this.#waiting.size > 0) return false
    if (this.#pipelinedInTurn === 0) setImmediate(() => (this.#pipelinedInTurn = 0))
    this.#pipelinedInTurn += 1
    return this.#pipelinedInTurn <= maxPipelinedInTurn
  }

  /** Starts one waiting request of each connection per turn of the event loop, so that all connections take turns. */
  #scheduleStart(): void {
    if (this.#isStartScheduled || this.#waiting.size === 0) return
    this.#isStartScheduled = true
    setImmediate(() => {
      this.#isStartScheduled = false
      const waiting = [...this.#waiting] // without those that are added meanwhile
      for (const connection of waiting)
        if (this.#waiting.delete(connection)) this.#start(connection, connection.queue.shift()!)
      this.#scheduleStart()
    })
  }

  #count(connection: Connection, bytes: number): void {
    const was = connection.responseBytes
    if (bytes > 0 && !this.#open.has(connection.socket)) return
    connection.responseBytes = bytes
    this.#responseBytes += bytes - was
  }

  #closeUnread({ socket, responseBytes }: Connection): void {
    if (responseBytes > 0 && socket.writableLength > 0) this.#close(socket)
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
    this.#receiving.delete(connection)
    this.#waiting.delete(connection)
    this.#count(connection, 0)
    connection.queue.length = 0
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

function isArriving({ receiving }: Connection): boolean {
  return receiving !== undefined && !receiving.request.complete
}

function maxChecksOf(request: IncomingMessage): number {
  return (request instanceof LeanRequest ? request.maxSeconds : undefined) ?? maxBodyChecks
}

function isAuthorized(request: IncomingMessage): boolean {
  return request instanceof LeanRequest && request.isAuthorized === true
}
