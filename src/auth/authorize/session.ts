import type { Transaction } from 'kysely'
import { makeSecret, makeUuid, sha256 } from '../../kit/index.ts'
import type { SystemTables } from '../../store/index.ts'
import { assertPasswordUnchanged } from '../access/login.ts'
import type { VerifiedUser } from '../account/users.ts'
import { endSignIn, type SignIn } from '../token/revoke.ts'
import type { TokenIssuer } from '../token/tokens.ts'

/** A user who is logged in on the pages. */
export interface Session {
  /** SHA-256 of the cookie's value. */
  readonly hash: string
  readonly userId: string
  readonly userName: string
  /** When the password was last entered. */
  readonly passwordAt: number
  /** The sign-in that its codes and tokens end with. */
  readonly signIn: string | null
}

type Sessions = Pick<TokenIssuer, 'system' | 'clock'>

const day = 86_400_000
export const maxSessionMs = 30 * day
const maxIdleMs = 7 * day
/** Minimum change of the expiry before it is written, to avoid a write on every request. */
const minExpiryChangeMs = 3_600_000

/**
 * Starts a session after a login. Always uses a new cookie value, to prevent session fixation. It continues the sign-in of
 * the browser's session if that is of the same user, and ends that of another user.
 * @returns the cookie's value; only its hash is stored
 * @throws WP_AUTH_LOGIN if the password was changed while it was verified
 */
export async function beginSession(
  { system, clock }: Sessions,
  user: VerifiedUser,
  before: string | undefined,
): Promise<string> {
  const value = makeSecret()
  const now = clock.now()
  await system.transaction(async (trx) => {
    await assertPasswordUnchanged(system, trx, user)
    const old = before === undefined ? undefined : await removeSession(trx, before)
    const isSame = old?.user_id === user.id
    await trx
      .insertInto('waypost_session')
      .values({
        hash: sha256(value),
        user_id: user.id,
        password_check: user.passwordCheck,
        created_at: now,
        password_at: now,
        expires_at: now + maxIdleMs,
        sign_in: (isSame ? old.sign_in : null) ?? makeUuid(),
      })
      .execute()
    if (old !== undefined && !isSame) await endSignIn(system, trx, { signIn: old, now })
  })
  return value
}

/** Finds the session of a cookie in System. A session ends when its user is disabled or changes the password. */
export async function findSession(sessions: Sessions, value: string | undefined): Promise<Session | undefined> {
  if (value === undefined) return undefined
  const { system, clock } = sessions
  const hash = sha256(value)
  const row = await system.db
    .selectFrom('waypost_session as session')
    .innerJoin('waypost_user as user', 'user.id', 'session.user_id')
    .select(['session.created_at', 'session.password_at', 'session.expires_at', 'session.password_check'])
    .select('session.sign_in')
    .select(['user.id', 'user.name', 'user.password_hash'])
    .where('session.hash', '=', hash)
    .where('session.expires_at', '>', clock.now())
    .where('user.status', '=', 'active')
    .executeTakeFirst()
  if (row === undefined || row.password_check !== sha256(row.password_hash ?? '')) return undefined
  const expiresAt = Math.min(row.created_at + maxSessionMs, clock.now() + maxIdleMs)
  if (expiresAt - row.expires_at >= minExpiryChangeMs) {
    const move = system.db.updateTable('waypost_session').set({ expires_at: expiresAt })
    await move.where('hash', '=', hash).execute()
  }
  return { hash, userId: row.id, userName: row.name, passwordAt: row.password_at, signIn: row.sign_in }
}

/** Ends the sign-in of a cookie: its session, and by default every token that the pages of this browser got. */
export async function endSession(
  { system, clock }: Sessions,
  value: string,
  { keepTokens = false }: { readonly keepTokens?: boolean } = {},
): Promise<void> {
  await system.transaction(async (trx) => {
    const session = await removeSession(trx, value)
    if (session !== undefined && !keepTokens) await endSignIn(system, trx, { signIn: session, now: clock.now() })
  })
}

async function removeSession(trx: Transaction<SystemTables>, value: string): Promise<SignIn | undefined> {
  const removal = trx.deleteFrom('waypost_session').where('hash', '=', sha256(value))
  return removal.returning(['user_id', 'sign_in']).executeTakeFirst()
}
