import { rotateKey, type KeyRotation } from '../auth/index.ts'
import { openIdentity } from '../host/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'

/** Creates a new signing key. The previous key still verifies its tokens, or is withdrawn with them. */
export async function rotateHostKey(host: ActingHost, options: { withdraw?: boolean } = {}): Promise<KeyRotation> {
  const { secrets } = await openIdentity(host)
  return changeSystem(host, async (system, audit) => {
    const rotation = await rotateKey(system, secrets, { now: host.clock.now(), ...options })
    const { key, ...after } = rotation
    await audit({ action: 'key.rotate', subject: { id: key, name: key }, after })
    return rotation
  })
}
