import { rotateKey, type KeyRotation } from '../auth/index.ts'
import { loadTerms, openIdentity } from '../host/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'

/** Creates a new signing key. The previous key still verifies its tokens, or is withdrawn with them. */
export async function rotateHostKey(host: ActingHost, options: { withdraw?: boolean } = {}): Promise<KeyRotation> {
  const { secrets } = await openIdentity(host)
  const { token_algorithm: algorithm } = (await loadTerms(host)).settings
  return changeSystem(host, async (system, audit) => {
    const rotation = await rotateKey(system, secrets, { now: host.clock.now(), algorithm, ...options })
    const { key, ...after } = rotation
    await audit({ action: 'key.rotate', subject: { id: key, name: key }, after })
    return rotation
  })
}
