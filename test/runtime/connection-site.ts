import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { ConnectionLimits } from '../../src/runtime/connections.ts'
import { openGateway, type Gateway } from '../../src/runtime/index.ts'
import { until } from '../support/until.ts'

interface Site extends AsyncDisposable {
  readonly gateway: Gateway
  /** The requested paths, in order. */
  readonly begun: readonly string[]
  /** Answers the oldest request for `/slow`. */
  answerSlow(): void
  /** Opens a connection that collects what it receives, by default from 127.0.0.1. */
  open(localAddress?: string): Promise<Caller>
  readonly full: readonly number[]
  onRequest: (request: IncomingMessage) => void
  respond: (response: ServerResponse, url: string) => void
}

interface Caller {
  readonly socket: Socket
  received(): string
  /** Waits until the received data matches. */
  until(pattern: RegExp): Promise<void>
  readonly closed: Promise<unknown>
}

export async function openSite(most = 1000, unread: ConnectionLimits['unread'] = {}): Promise<Site> {
  const begun: string[] = []
  const slow: ServerResponse[] = []
  const sockets: Socket[] = []
  const full: number[] = []
  const gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    connections: { maxConnections: most, onFull: (limit) => full.push(limit), unread },
    generation: {
      routes: undefined,
      call: () => Promise.reject(new Error('not used')),
      handle(request: IncomingMessage, response: ServerResponse) {
        const { url } = request
        site.onRequest(request)
        begun.push(url!)
        if (url === '/slow') slow.push(response)
        else site.respond(response, url!)
      },
      close: async () => undefined,
    },
  })
  const site: Site = {
    gateway,
    begun,
    full,
    onRequest: () => undefined,
    respond: (response, url) => response.end(`<${url}>`),
    answerSlow: () => slow.shift()!.end('<slow>'),
    async open(localAddress = '127.0.0.1') {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress })
      sockets.push(socket)
      let text = ''
      const closed = new Promise((resolve) => socket.on('close', resolve))
      socket.setEncoding('utf8').on('data', (part: string) => (text += part))
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      return {
        socket,
        closed,
        received: () => text,
        async until(pattern) {
          while (!pattern.test(text)) await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await gateway.close(0)
    },
  }
  return site
}

/** Bytes retained by JavaScript, in the heap and outside. */
export function measureMemory(): number {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + Math.max(external, arrayBuffers) // only external memory contains the bytes being sent
}

export const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

export const mb = 1024 * 1024
export const big = Buffer.alloc(20 * mb, 'x')

/** A caller that reads nothing before it is told to, with its connection on the server. */
interface PausedCaller extends Caller {
  readonly served: Socket
}

/** A site whose checks for stalled clients are made by a test. Clients of `/big` get more than sockets buffer. */
export async function openStalling(limits: ConnectionLimits['unread'] = {}) {
  let check: () => void = () => assert.fail('no check')
  const site = await openSite(1000, { ...limits, repeat: (given) => ((check = given), () => undefined) })
  const served: Socket[] = []
  site.onRequest = ({ socket }) => served.push(socket)
  site.respond = (response, url) => {
    if (url === '/stream') response.write(big)
    else response.end(url === '/big' ? big : `<${url}>`)
  }
  return {
    site,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
    check: () => check(),
    async request(path: string): Promise<PausedCaller> {
      const caller = await site.open()
      const before = served.length
      caller.socket.pause().write(get(path))
      await until(`${path} is requested`, () => served.length > before)
      return { ...caller, served: served.at(-1)! }
    },
  }
}
