import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP line to a server of which a test can take hold. */
export interface Line {
  /** The address with this line's host and port in the place of its own. */
  through(url: string): string
  /** Breaks what is open and refuses what comes. */
  cut(): Promise<void>
  /** Nothing passes any more, and nobody is told: what is open stays open, also after `mend`. */
  freeze(): void
  /** New connections pass again. */
  mend(): Promise<void>
  close(): Promise<void>
}

/** Opens a line on a free port to the server that an address names. */
export async function openLine(target: string): Promise<Line> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (data) => void (isFrozen || frozen.has(from) || to.write(data)))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const frozen = new WeakSet<Socket>()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = server.address() as AddressInfo

  async function cut(): Promise<void> {
    for (const socket of sockets) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }

  return {
    through: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${own.port}` }).href,
    cut,
    freeze() {
      isFrozen = true
      for (const socket of sockets) frozen.add(socket)
    },
    async mend() {
      isFrozen = false
      if (server.listening) return
      server.listen(own.port, '127.0.0.1')
      await once(server, 'listening')
    },
    close: cut,
  }
}
