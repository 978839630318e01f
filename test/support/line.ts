import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy to a server, which a test controls. */
export interface Line {
  /** Returns the URL with the host and port of the proxy. */
  through(url: string): string
  /** Breaks open connections and rejects new ones. */
  cut(): Promise<void>
  /** Stops all traffic without closing: open connections stay open, also after `mend`. */
  freeze(): void
  /** The same, only for connections that sent the watchword, and for new ones that send it. */
  freezeWatched(): void
  /** Accepts new connections again. */
  mend(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a proxy on a free port to the server of a URL.
 * @param watchword a text that a client sends over a connection to mark it
 */
export async function openLine(target: string, watchword?: string): Promise<Line> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const watched = new Set<Socket>()
  let isFrozen = false
  let isWatchFrozen = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    near.on('data', (data) => {
      if (watchword === undefined || !data.includes(watchword)) return
      for (const socket of [near, far]) (isWatchFrozen ? frozen : watched).add(socket)
    })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (data) => void (isFrozen || frozen.has(from) || to.write(data)))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        watched.delete(from)
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
    freezeWatched() {
      isWatchFrozen = true
      for (const socket of watched) frozen.add(socket)
    },
    async mend() {
      isFrozen = false
      isWatchFrozen = false
      if (server.listening) return
      server.listen(own.port, '127.0.0.1')
      await once(server, 'listening')
    },
    close: cut,
  }
}
