import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** Open connections at most. */
  readonly most: number
  /** Called when a connection is closed to stay within the limit, at most once a minute. */
  onFull?(most: number): void
}

/** Answers a request. It calls back when the response is over. */
export type Answer = (request: IncomingMessage, response: ServerResponse, ended: () => void) => void

interface Connection {
  readonly socket: Socket
  isBusy: boolean
  /** Requests that came before those ahead of them were answered. */
  readonly waiting: (Exchange & {
    /** How many bytes of the connection had been read when it came. */
    readonly position: number
  })[]
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** How many requests may wait on one connection: more than clients send that pipeline. */
const mostWaiting = 32
/** How many bytes may be read behind the first of them. */
const mostWaitingBytes = 128 * 1024
/** How long a client may take nothing of a response that it asked for. */
const stalledMs = 60_000
const tellEveryMs = 60_000

/** The open connections of a server: how many there are, and how much each of them can make the server keep in memory. */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #answer: Answer
  readonly #open = new Map<Socket, Connection>()
  /** Those without a request, longest idle first. */
  readonly #idle = new Set<Connection>()
  #toldAt = -Infinity

  constructor(limits: ConnectionLimits, answer: Answer) {
    this.#limits = limits
    this.#answer = answer
  }

  /** Watches the connections of a server. A new one beyond the limit replaces the one that was idle longest. */
  watch(server: Server): void {
    server.timeout = stalledMs
    server.on('connection', (socket: Socket) => this.#admit(socket))
    server.on('timeout', (socket: Socket) => {
      // Only an action that takes its time is waited for.
      const isComputing = this.#open.get(socket)?.isBusy === true && socket.writableLength === 0
      if (!isComputing) this.#close(socket)
    })
  }

  /**
   * Answers a request as soon as those before it on its connection have been answered. Answered all at once, the responses
   * to a client that pipelines and does not read would all be in memory.
   */
  readonly take = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = this.#open.get(request.socket)
    if (connection === undefined) return
    if (!connection.isBusy) return this.#begin(connection, { request, response })
    // Node goes on to parse what follows, and keeps up to 64 KB of each body. A connection that is not read instead would
    // not be noticed to break.
    const position = request.socket.bytesRead
    const [first] = connection.waiting
    const isLarge = first !== undefined && position - first.position > mostWaitingBytes
    if (isLarge || connection.waiting.length >= mostWaiting) this.#close(request.socket)
    else connection.waiting.push({ request, response, position })
  }

  #admit(socket: Socket): void {
    if (this.#open.size >= this.#limits.most) this.#makeRoom(socket)
    if (socket.destroyed) return
    const connection = { socket, isBusy: false, waiting: [] }
    this.#open.set(socket, connection)
    this.#idle.add(connection)
    socket.once('close', () => this.#forget(socket))
  }

  #makeRoom(newcomer: Socket): void {
    const { most, onFull } = this.#limits
    const [longestIdle] = this.#idle
    this.#close(longestIdle?.socket ?? newcomer)
    const now = performance.now()
    if (now - this.#toldAt < tellEveryMs) return
    this.#toldAt = now
    onFull?.(most)
  }

  #begin(connection: Connection, { request, response }: Exchange): void {
    connection.isBusy = true
    this.#idle.delete(connection)
    this.#answer(request, response, () => this.#next(connection))
  }

  #next(connection: Connection): void {
    if (!this.#open.has(connection.socket)) return
    const next = connection.waiting.shift()
    if (next !== undefined) return this.#begin(connection, next)
    connection.isBusy = false
    this.#idle.add(connection)
  }

  #close(socket: Socket): void {
    this.#forget(socket)
    socket.destroy()
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    this.#open.delete(socket)
    this.#idle.delete(connection)
    connection.waiting.length = 0
  }
}
