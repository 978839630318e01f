import { sql, type Kysely, type Transaction } from 'kysely'
import { makeUuid, nearest, sha256, isUuid } from '../../kit/index.ts'
import { recordChanges, type System, type SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { hashPassword, rehashPassword, verifyPassword } from './passwords.ts'
import { checkScopes } from './scopes.ts'

export interface UserRecord {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'disabled'
}

export interface NewUser {
  readonly name: string
  readonly email?: string
  /** A user without a password cannot log in, but can have tokens. */
  readonly password?: string
  readonly scopes: readonly string[]
  /** Reject a name that differs from an existing one only in case, so that no one can impersonate another user. */
  readonly rejectSimilarName?: boolean
}

// URLs cannot contain "." and ".." as a segment, so that no one could administer users of these names.
const userName = /^(?!\.{1,2}$)[\w.@+-]{1,64}$/

/** Checks the rules for usernames. @throws WP_AUTH_NAME */
export function assertUserName(name: string): void {
  if (!userName.test(name)) throw errors.WP_AUTH_NAME({ name })
}

/**
 * Adds a user.
 * @throws WP_AUTH_USER_EXISTS, WP_AUTH_NAME, WP_AUTH_PASSWORD_WEAK, WP_AUTH_PASSWORD_NAME, WP_AUTH_SCOPE_NAME
 */
export async function addUser(system: System, user: NewUser): Promise<UserRecord> {
  return insertUser(system, await prepareUser(system, user))
}

/** A user that was checked, with the hash of the password. */
export interface PreparedUser extends Omit<NewUser, 'password'> {
  readonly passwordHash: string | null
}

/** Checks a user and hashes the password, which must not happen in a transaction. Throws like `addUser`. */
export async function prepareUser(system: System, { password, ...user }: NewUser): Promise<PreparedUser> {
  assertUserName(user.name)
  const passwordHash = password === undefined ? null : await hashPassword(system, { ...user, password })
  return { ...user, scopes: checkScopes(user.scopes), passwordHash }
}

/** Stores a prepared user. @throws WP_AUTH_USER_EXISTS */
export async function insertUser(system: System, user: PreparedUser): Promise<UserRecord> {
  const { email, scopes } = user
  const record = { id: makeUuid(), name: user.name, status: 'active' as const }
  await system.transaction(async (trx) => {
    if (user.rejectSimilarName === true) await assertNoSimilarName(system, trx, user.name)
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('waypost_user')
      .values({ ...record, email: email ?? null, password_hash: user.passwordHash, created_at: system.now() })
      .onConflict((on) => on.column('name').doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows !== 1n) throw errors.WP_AUTH_USER_EXISTS({ name: user.name })
    if (scopes.length > 0) {
      await trx
        .insertInto('waypost_user_scope')
        .values(scopes.map((scope) => ({ user_id: record.id, scope })))
        .execute()
    }
  })
  return record
}

/** The lock serializes concurrent requests for names that differ only in case. @throws WP_AUTH_USER_EXISTS */
async function assertNoSimilarName(system: System, trx: Transaction<SystemTables>, name: string): Promise<void> {
  const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`waypost_user ${name.toLowerCase()}`}, 0))`
  if (system.kind === 'postgresql') await lock.execute(trx)
  if (await isNameTaken(trx, name)) throw errors.WP_AUTH_USER_EXISTS({ name })
}

/** Whether a user has this name, ignoring case. */
export async function isNameTaken(db: Kysely<SystemTables>, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('waypost_user')
    .select('id')
    .where((column) => column(column.fn<string>('lower', ['name']), '=', name.toLowerCase()))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Finds a user by name. @throws WP_AUTH_USER_UNKNOWN naming the nearest */
export async function findUser(system: System, name: string): Promise<UserRecord> {
  const user = await system.db
    .selectFrom('waypost_user')
    .select(['id', 'name', 'status'])
    .where('name', '=', name)
    .executeTakeFirst()
  if (user !== undefined) return user
  const names = await system.db.selectFrom('waypost_user').select('name').limit(1000).execute()
  const guess = nearest(
    name,
    names.map((row) => row.name),
  )
  throw errors.WP_AUTH_USER_UNKNOWN({
    name,
    hint:
      guess === undefined
        ? `List the users with waypost user:list, or add this one: waypost user:add ${name}`
        : `Did you mean "${guess}"?`,
  })
}

/** Serializes changes of one user. On SQLite, write transactions are serialized anyway. */
export async function lockUser(system: System, trx: Transaction<SystemTables>, userId: string): Promise<void> {
  if (system.kind === 'sqlite') return
  await trx.selectFrom('waypost_user').select('id').where('id', '=', userId).forUpdate().execute()
}

export async function loadUserScopes(db: Kysely<SystemTables>, userId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('waypost_user_scope')
    .select('scope')
    .where('user_id', '=', userId)
    .orderBy('scope')
    .execute()
  return rows.map((row) => row.scope)
}

/** Adds missing scopes to a user. */
export async function addUserScopes(system: System, userId: string, scopes: readonly string[]): Promise<void> {
  if (scopes.length === 0) return
  await system.transaction(async (trx) => {
    await trx
      .insertInto('waypost_user_scope')
      .values(checkScopes(scopes).map((scope) => ({ user_id: userId, scope })))
      .onConflict((on) => on.doNothing())
      .execute()
    await recordChanges(system, trx, [{ kind: 'user', subject: userId }])
  })
}

/** Removes scopes from a user. Within a second, all servers reject the user's tokens for them. */
export async function removeUserScopes(system: System, userId: string, scopes: readonly string[]): Promise<void> {
  if (scopes.length === 0) return
  await system.transaction(async (trx) => {
    await trx.deleteFrom('waypost_user_scope').where('user_id', '=', userId).where('scope', 'in', scopes).execute()
    await recordChanges(system, trx, [{ kind: 'user', subject: userId }])
  })
}

/** A user whose password has been verified. */
export interface VerifiedUser extends UserRecord {
  readonly email: string | null
  /** SHA-256 of the password's hash; it changes with the password. */
  readonly passwordCheck: string
}

/** Verifies name and password of an active user. @throws WP_AUTH_LOGIN, WP_AUTH_BUSY */
export async function verifyLogin(system: System, name: string, password: string): Promise<VerifiedUser> {
  const user = await system.db
    .selectFrom('waypost_user')
    .select(['id', 'name', 'email', 'status', 'password_hash'])
    .where('name', '=', userName.test(name) ? name : '') // PostgreSQL rejects texts that contain NUL
    .executeTakeFirst()
  const verdict = await verifyPassword(system, password, user?.password_hash)
  if (user === undefined || verdict === 'wrong' || user.status !== 'active') throw errors.WP_AUTH_LOGIN()
  const { password_hash: stored, ...record } = user
  if (verdict === 'right') return { ...record, passwordCheck: sha256(stored ?? '') }
  const replaced = await replaceHash(system, {
    id: user.id,
    stored: stored!,
    next: await rehashPassword(system, password),
  })
  // Another login has replaced the hash meanwhile, or the password was changed.
  return replaced === undefined ? verifyLogin(system, name, password) : { ...record, passwordCheck: replaced }
}

/** Replaces the hash of the same password. Sessions go on. */
async function replaceHash(
  system: System,
  { id, stored, next }: { readonly id: string; readonly stored: string; readonly next: string },
): Promise<string | undefined> {
  const check = sha256(next)
  return system.transaction(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('waypost_user')
      .set({ password_hash: next })
      .where('id', '=', id)
      .where('password_hash', '=', stored)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return undefined
    await trx
      .updateTable('waypost_session')
      .set({ password_check: check })
      .where('user_id', '=', id)
      .where('password_check', '=', sha256(stored))
      .execute()
    return check
  })
}

/**
 * Finds a user by id, as in tokens and logs, or by name. The id takes precedence, so that no user can impersonate
 * another with a name that looks like an id.
 * @throws WP_AUTH_USER_UNKNOWN naming the nearest
 */
export async function resolveUser(system: System, idOrName: string): Promise<UserRecord> {
  const users = system.db.selectFrom('waypost_user').select(['id', 'name', 'status'])
  const byId = isUuid(idOrName) ? await users.where('id', '=', idOrName).executeTakeFirst() : undefined
  return byId ?? findUser(system, idOrName)
}
