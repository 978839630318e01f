import { rotateKey, type KeyRotation } from '../auth/index.ts'
import { type Host, openIdentity } from '../host/index.ts'

/** Makes a new signing key; the one before verifies what it signed, or is withdrawn with all tokens. */
export async function rotateHostKey(host: Host, options: { withdraw?: boolean } = {}): Promise<KeyRotation> {
  const { secrets } = await openIdentity(host)
  return rotateKey(host.system, secrets, { now: host.clock.now(), ...options })
}
