import type { Clock } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { findSpentKeys } from './spent-keys.ts'

/** A public key as a JWK Set holds it (RFC 7517): these members and no others, whatever stands in System. */
export interface PublishedKey {
  readonly kty: string
  readonly crv: string
  readonly x: string
  readonly y: string
  readonly kid: string
  readonly alg: string
  readonly use: string
}

/**
 * The keys by which others verify access tokens: the one that signs, and those before it until their last token has
 * expired. Read from System each time, so that a new key is never missing; that a key is spent is remembered, because
 * it stays so.
 */
export function makePublishedKeys(system: System, clock: Clock): () => Promise<readonly PublishedKey[]> {
  const spent = new Set<string>()
  return async () => {
    const query = system.db.selectFrom('waypost_key').select(['id', 'public_jwk', 'retired_at'])
    const rows = await query.orderBy('created_at', 'desc').orderBy('id').execute()
    const hasRetired = rows.some((row) => row.retired_at !== null)
    if (hasRetired) for (const id of await findSpentKeys(system.db, clock.now(), spent)) spent.add(id)
    return rows.filter((row) => !spent.has(row.id)).map((row) => pickPublic(row.public_jwk))
  }
}

function pickPublic(text: string): PublishedKey {
  const { kty, crv, x, y, kid, alg, use } = JSON.parse(text) as PublishedKey
  return { kty, crv, x, y, kid, alg, use }
}
