import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** A port that nothing listens on just now. */
export async function findFreePort(): Promise<number> {
  const probe = createServer()
  await once(probe.listen(0, '127.0.0.1'), 'listening')
  const { port } = probe.address() as AddressInfo
  await once(probe.close(), 'close')
  return port
}
