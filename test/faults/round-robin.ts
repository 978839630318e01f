import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy of TCP that gives each connection to the next server. It closes nothing by itself. */
export interface RoundRobin {
  readonly port: number
  /** How many connections each server got. */
  readonly counts: readonly number[]
  close(): Promise<void>
}

export async function openRoundRobin(ports: readonly number[]): Promise<RoundRobin> {
  const sockets = new Set<Socket>()
  const counts = ports.map(() => 0)
  let next = 0
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const turn = next++ % ports.length
    counts[turn]! += 1
    const far = connect({ port: ports[turn]!, host: '127.0.0.1', allowHalfOpen: true })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.resetAndDestroy()) // a reset goes on as one
      from.on('close', () => sockets.delete(from))
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    counts,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
