import { once } from 'node:events'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { selfSigned } from '../outbound/self-signed.ts'

/** An endpoint that does not do what a subscriber should. */
export interface HostileEndpoint {
  readonly name: string
  readonly url: string
  /** What the log of attempts says of each POST. */
  readonly outcome: RegExp
}

export interface HostileEndpoints {
  readonly endpoints: readonly HostileEndpoint[]
  readonly seen: Readonly<Seen>
  close(): Promise<void>
}

interface Seen {
  /** Requests to where redirects lead. */
  followed: number
  /** Bytes of the answer of 2 GB that went out. */
  sentBytes: number
}

interface Kind {
  readonly name: string
  readonly outcome: RegExp
  readonly scheme?: 'https'
  open(seen: Seen, target: string): Server
}

const timeout = /^timeout 3 s$/
const broken = /^(ECONNRESET|UND_ERR_SOCKET)$/
const twoGigabytes = 2 * 1024 ** 3

const kinds: readonly Kind[] = [
  { name: 'hangs', outcome: timeout, open: () => http(() => undefined) },
  { name: 'hangs before TLS', outcome: timeout, scheme: 'https', open: () => createServer() },
  { name: 'drips its body', outcome: timeout, open: () => http((response) => drip(response.writeHead(200), '.')) },
  {
    name: 'drips its headers',
    outcome: timeout,
    open: () => raw((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n')),
  },
  { name: 'drips 102', outcome: timeout, open: () => raw((socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n')) },
  { name: 'resets', outcome: broken, open: () => raw((socket) => socket.resetAndDestroy()) },
  { name: 'breaks off', outcome: broken, open: () => http(breakOff) },
  {
    name: 'talks nonsense',
    outcome: /HTTP|HPE_/,
    open: () => raw((socket) => socket.end('220 mail.example ESMTP\r\n')),
  },
  {
    name: 'answers 2 GB',
    outcome: /^a response larger than 1 MB$/,
    open: (seen) =>
      http((response) => {
        response.writeHead(200, { 'content-length': String(twoGigabytes) })
        pour(response, 'y', (bytes) => (seen.sentBytes += bytes))
      }),
  },
  {
    name: 'answers headers without end',
    outcome: /HEADERS_OVERFLOW|HPE_/,
    open: () =>
      raw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        pour(socket, `x: ${'y'.repeat(1000)}\r\n`)
      }),
  },
  {
    name: 'has a bad certificate',
    outcome: /CERT|SSL|SELF_SIGNED/,
    scheme: 'https',
    open: () => createSecureServer(selfSigned),
  },
  ...[302, 307, 308].map((status): Kind => ({
    name: `redirects with ${status}`,
    outcome: new RegExp(`^status ${status}$`),
    open: (_seen, location) => http((response) => response.writeHead(status, { location }).end()),
  })),
]

/** Opens one endpoint of each kind, for a `delivery_timeout` of 3 s. */
export async function openHostileEndpoints(): Promise<HostileEndpoints> {
  const seen: Seen = { followed: 0, sentBytes: 0 }
  const target = await listen(http((response) => response.end(String(++seen.followed))))
  const opened = await Promise.all(
    kinds.map(async ({ name, outcome, scheme = 'http', open }) => {
      const { port, close } = await listen(open(seen, `http://127.0.0.1:${target.port}/`))
      return { name, outcome, url: `${scheme}://127.0.0.1:${port}/${name.replaceAll(' ', '-')}`, close }
    }),
  )
  return {
    endpoints: opened,
    seen,
    close: async () => void (await Promise.all([target, ...opened].map(({ close }) => close()))),
  }
}

/** Answers what came as HTTP. */
function http(answer: (response: ServerResponse) => void): Server {
  return createHttpServer((request, response) => void request.resume().on('end', () => answer(response)))
}

/** Answers the first bytes, whatever they are. */
function raw(answer: (socket: Socket) => void): Server {
  return createServer((socket) => void socket.once('data', () => answer(socket)))
}

async function listen(server: Server): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '100' }).write('half')
  setTimeout(() => response.destroy(), 20)
}

/** Writes a beginning, and then a little each second, for as long as somebody reads. */
function drip(to: Socket | ServerResponse, beginning: string, more = beginning): void {
  to.write(beginning)
  const timer = setInterval(() => to.write(more), 1000)
  to.on('close', () => clearInterval(timer))
}

/** Writes as much as is taken, up to 2 GB. */
function pour(to: Socket | ServerResponse, text: string, count?: (bytes: number) => void): void {
  const part = Buffer.alloc(64 * 1024, text)
  let left = twoGigabytes
  const more = () => {
    while (!to.destroyed && left > 0) {
      left -= part.length
      count?.(part.length)
      if (!to.write(part)) return
    }
  }
  to.on('drain', more)
  more()
}
