import { makeSecret, sha256 } from '../../kit/index.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import type { CheckedRequest } from './check-request.ts'
import type { Consent } from './consent.ts'

/** Issues the code that a client exchanges for tokens: 256 bits, of which only the hash is stored. */
export async function issueCode(
  { system, clock, settings }: Pick<TokenIssuer, 'system' | 'clock' | 'settings'>,
  request: CheckedRequest,
  { userId, scopes }: Consent,
): Promise<string> {
  const code = makeSecret()
  const now = clock.now()
  await system.db
    .insertInto('waypost_code')
    .values({
      hash: sha256(code),
      client_id: request.client.id,
      user_id: userId,
      redirect_uri: request.hasRedirectUri ? request.redirectUri : '',
      scope: scopes.join(' '),
      separator: request.requested?.separator ?? ' ',
      challenge: request.challenge,
      created_at: now,
      expires_at: now + settings().code_lifetime,
      used_at: null,
      family_id: null,
    })
    .execute()
  return code
}
