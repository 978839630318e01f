import type { Transaction } from 'kysely'
import { makeSecret, sha256 } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import type { CheckedRequest } from './check-request.ts'
import type { Session } from './session.ts'

/**
 * Issues the code that a client exchanges for tokens: 256 random bits, stored as a hash. Locks the session's row, so
 * that a concurrent end of the session also finds this code.
 * @returns undefined if the session has ended or the client was disabled
 */
export async function issueCode(
  { system, clock, settings }: Pick<TokenIssuer, 'system' | 'clock' | 'settings'>,
  request: CheckedRequest,
  { session, scopes }: { session: Session; scopes: readonly string[] },
): Promise<string | undefined> {
  const code = makeSecret()
  const now = clock.now()
  return system.transaction(async (trx) => {
    const locked = await trx
      .selectFrom('waypost_session')
      .select('hash')
      .where('hash', '=', session.hash)
      .$if(system.kind === 'postgresql', (query) => query.forUpdate())
      .executeTakeFirst()
    if (locked === undefined || !(await isClientActive(system, trx, request.client.id))) return undefined
    await trx
      .insertInto('waypost_code')
      .values({
        hash: sha256(code),
        client_id: request.client.id,
        user_id: session.userId,
        redirect_uri: request.hasRedirectUri ? request.redirectUri : '',
        scope: scopes.join(' '),
        separator: request.requested?.separator ?? ' ',
        challenge: request.challenge,
        password_at: session.passwordAt,
        created_at: now,
        expires_at: now + settings().code_lifetime,
        used_at: null,
        family_id: null,
        sign_in: session.signIn,
      })
      .execute()
    return code
  })
}

/** Also locks the client's row, so that disabling the client finds this code. */
async function isClientActive(system: System, trx: Transaction<SystemTables>, id: string): Promise<boolean> {
  const client = await trx
    .selectFrom('waypost_client')
    .select('id')
    .where('id', '=', id)
    .where('status', '=', 'active')
    .$if(system.kind === 'postgresql', (query) => query.forShare())
    .executeTakeFirst()
  return client !== undefined
}
