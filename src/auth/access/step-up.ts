import { decodeJwt } from 'jose'
import { errors } from '../errors.ts'

/** Maximum time since the password was entered for changes that give rights away. */
export const maxPasswordAgeMs = 15 * 60_000

/**
 * Requires that the user of the backend's pages has entered the password recently. Tokens of other clients do not record
 * when the password was entered, so they are accepted.
 * @param header an Authorization header that the guard has verified
 * @throws WP_AUTH_STEP_UP, which the pages answer with a window that asks for the password
 */
export function assertRecentPassword(header: string | undefined, now: number): void {
  const { auth_time: enteredAt } = decodeJwt((header ?? '').replace(/^Bearer +/i, '').trimEnd())
  if (typeof enteredAt === 'number' && now - enteredAt * 1000 >= maxPasswordAgeMs) throw errors.WP_AUTH_STEP_UP()
}
