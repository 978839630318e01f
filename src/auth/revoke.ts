import { decodeJwt } from 'jose'
import { sha256 } from '../kit/index.ts'
import type { ClientRecord } from './clients.ts'
import { revokeTokens, type TokenIssuer } from './tokens.ts'

/**
 * Revokes a token by its value, if it belongs to the client (RFC 7009 §2.1): a refresh token takes its family along.
 * A token that is unknown, expired or another client's is no error.
 */
export async function revokeByValue(issuer: TokenIssuer, client: ClientRecord, token: string): Promise<void> {
  const family = await issuer.system.db
    .selectFrom('waypost_refresh_token as token')
    .innerJoin('waypost_token_family as family', 'family.id', 'token.family_id')
    .select('family.id')
    .where('token.hash', '=', sha256(token))
    .where('family.client_id', '=', client.id)
    .executeTakeFirst()
  if (family !== undefined) {
    await revokeTokens(issuer.system, { familyId: family.id }, issuer.clock.now())
    return
  }
  const jti = readJti(token)
  if (jti === undefined) return
  const owned = await issuer.system.db
    .selectFrom('waypost_token')
    .select('jti')
    .where('jti', '=', jti)
    .where('client_id', '=', client.id)
    .executeTakeFirst()
  if (owned !== undefined) await revokeTokens(issuer.system, { jti }, issuer.clock.now())
}

/** The signature does not matter: who knows the id of a client's token and the client's secret may revoke it. */
function readJti(token: string): string | undefined {
  try {
    return decodeJwt(token).jti
  } catch {
    return undefined
  }
}
