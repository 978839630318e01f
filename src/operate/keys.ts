import { rotateKey, type KeyRotation } from '../auth/index.ts'
import { type Host, openIdentity } from '../host/index.ts'

/** Creates a new signing key. The previous key still verifies its tokens, or is withdrawn with them. */
export async function rotateHostKey(host: Host, options: { withdraw?: boolean } = {}): Promise<KeyRotation> {
  const { secrets } = await openIdentity(host)
  return rotateKey(host.system, secrets, { now: host.clock.now(), ...options })
}
