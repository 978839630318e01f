import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../kit/index.ts'
import { inOneTransaction, loadFacts, lockFact, replaceFact, writeAudit, type System } from '../../store/index.ts'
import { backendClientId } from '../account/clients.ts'
import { assertPasswordRules } from '../account/passwords.ts'
import { backendScopes, isBackendScope } from '../account/scopes.ts'
import { countFirstRun } from '../account/throttle.ts'
import { assertUserName, insertUser, prepareUser } from '../account/users.ts'
import { errors } from '../errors.ts'
import type { TokenIssuer } from '../token/tokens.ts'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ' // without letters that look like others (Crockford)
const codeLength = 28 // 140 bits
const lifetimeMs = 3_600_000

/** Whether an active user may administer this server. */
export async function hasAdministrator({ db }: Pick<System, 'db'>): Promise<boolean> {
  const row = await db
    .selectFrom('waypost_user_scope as held')
    .innerJoin('waypost_user as user', 'user.id', 'held.user_id')
    .select('held.user_id')
    .where('held.scope', '=', 'backend.admin')
    .where('user.status', '=', 'active')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Makes the code with which the first administrator is created in a browser, in place of an earlier one. Only its hash is
 * stored.
 * @returns undefined if there is an administrator
 */
export async function makeFirstRunCode({ system, clock }: Pick<TokenIssuer, 'system' | 'clock'>) {
  if (await hasAdministrator(system)) return undefined
  const letters = [...randomBytes(codeLength)].map((byte) => alphabet[byte % alphabet.length]).join('')
  const stored = { hash: sha256(letters), expires_at: clock.now() + lifetimeMs }
  await replaceFact(system, 'first_run', JSON.stringify(stored))
  return letters.match(/.{4}/g)!.join('-')
}

/** Ignores case, spaces and hyphens, and reads letters as the digits that they look like. */
function normalize(code: string): string {
  return code
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
}

export interface FirstRun {
  readonly code: string
  readonly name: string
  readonly password: string
  /** The address of the caller. */
  readonly address: string
}

/**
 * Creates the first administrator. The code works once.
 * @throws WP_AUTH_FIRST_RUN_CODE, WP_AUTH_FIRST_RUN_DONE, WP_AUTH_FIRST_RUN_RATE, and the errors of `addUser`
 */
export async function createFirstAdministrator(
  issuer: TokenIssuer,
  { address, code, ...user }: FirstRun,
): Promise<void> {
  const { system, clock } = issuer
  await countFirstRun(system, clock, address)
  if (await hasAdministrator(system)) throw errors.WP_AUTH_FIRST_RUN_DONE()
  const hash = sha256(normalize(code))
  assertCode((await loadFacts(system)).first_run, hash, clock.now()) // before hashing the password, which is expensive
  assertUserName(user.name)
  assertPasswordRules(user)
  const defaults = issuer.settings().scopes_default.filter((scope) => !isBackendScope(scope))
  const scopes = [...new Set([...defaults, ...backendScopes])]
  const prepared = await prepareUser(system, { ...user, scopes })
  await inOneTransaction(system, async (joined) => {
    const stored = await joined.transaction((trx) => lockFact(joined, trx, 'first_run'))
    if (await hasAdministrator(joined)) throw errors.WP_AUTH_FIRST_RUN_DONE()
    assertCode(stored, hash, clock.now())
    const { id, name } = await insertUser(joined, prepared)
    const actor = { how: 'http', userId: id, name, clientId: backendClientId, scopes } as const
    await writeAudit(joined, actor, { action: 'user.add', subject: { id, name }, after: { scopes } })
    await joined.db.deleteFrom('waypost_system').where('name', '=', 'first_run').execute()
  })
}

/** @throws WP_AUTH_FIRST_RUN_CODE */
function assertCode(stored: string | undefined, hash: string, now: number): void {
  const { hash: right, expires_at: expiresAt } = JSON.parse(stored ?? '{"hash":"","expires_at":0}') as {
    hash: string
    expires_at: number
  }
  const isRight = right.length === hash.length && timingSafeEqual(Buffer.from(right), Buffer.from(hash))
  if (!isRight || expiresAt <= now) throw errors.WP_AUTH_FIRST_RUN_CODE()
}
