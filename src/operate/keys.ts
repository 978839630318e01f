import { rotateKey, type KeyRotation } from '../auth/index.ts'
import { type Host, openIdentity } from '../host/index.ts'

/** Makes a new signing key; every server signs with it within a second, the one before verifies what it signed. */
export async function rotateHostKey(host: Host): Promise<KeyRotation> {
  const { secrets } = await openIdentity(host)
  return rotateKey(host.system, secrets, host.clock.now())
}
