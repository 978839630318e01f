import { revokeTokensUntil, rotateKey, type Batches, type KeyRotation } from '../auth/index.ts'
import { loadTerms, openIdentity } from '../host/index.ts'
import type { System } from '../store/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'

/** So far the clock of a server can be behind. What it signs with the new key is not revoked. */
const recentMs = 60_000

/**
 * Creates a new signing key. The previous key still verifies its tokens, or is withdrawn with them: first the key, without
 * which no token is accepted, then, if there are many, the rows of older tokens in batches.
 */
export async function rotateHostKey(
  host: ActingHost,
  { withdraw = false, ...batches }: { withdraw?: boolean } & Batches = {},
): Promise<KeyRotation> {
  const { secrets } = await openIdentity(host)
  const { token_algorithm: algorithm } = (await loadTerms(host)).settings
  const now = host.clock.now()
  const until = now - recentMs
  const older = withdraw ? await countTokens(host.system, { now, until }) : 0
  const rotation = await changeSystem(host, async (system, audit) => {
    const rotated = await rotateKey(system, secrets, { now, algorithm, withdraw, revokedFrom: until })
    const { key, ...after } = { ...rotated, tokens: rotated.tokens + older }
    await audit({ action: 'key.rotate', subject: { id: key, name: key }, after })
    return rotated
  })
  if (older === 0) return rotation
  const revoked = await revokeTokensUntil(host.system, { now, until, ...batches })
  return { ...rotation, tokens: rotation.tokens + revoked }
}

async function countTokens({ db }: System, { now, until }: { now: number; until: number }): Promise<number> {
  const { count } = await db
    .selectFrom('waypost_token')
    .select((column) => column.fn.countAll<number>().as('count'))
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where('created_at', '<=', until)
    .executeTakeFirstOrThrow()
  return count
}
