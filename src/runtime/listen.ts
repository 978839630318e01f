import { createServer, type Server } from 'node:http'
import { messageOf } from '../kit/index.ts'
import { errors } from './errors.ts'

/** The address at which a server listens. */
export interface Address {
  readonly host: string
  readonly port: number
  /** Share the port with other processes that set this too. The operating system distributes the connections. */
  readonly reusePort?: boolean
  /** The flag that changes the port; `--port` by default. */
  readonly flag?: string
}

/** Starts to listen. @throws WP_RUNTIME_PORT, WP_RUNTIME_REUSE_PORT, WP_RUNTIME_LISTEN */
export async function listen(
  server: Server,
  { host, port, reusePort = false, flag = '--port' }: Address,
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, reusePort }, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE')
      throw errors.WP_RUNTIME_PORT({ host, port, flag, next: port === 65_535 ? port - 1 : port + 1 }, { cause })
    if (reusePort && (code === 'ENOTSUP' || code === 'EINVAL')) throw errors.WP_RUNTIME_REUSE_PORT({ port }, { cause })
    throw errors.WP_RUNTIME_LISTEN({ host, port, reason: messageOf(cause) }, { cause })
  }
}

/** Checks that a server could listen, for what must not be done if it cannot. @throws as `listen` */
export async function assertCanListen(address: Address): Promise<void> {
  const probe = createServer()
  await listen(probe, address)
  await new Promise((resolve) => probe.close(resolve))
}
