import { sql, type Transaction, type Kysely } from 'kysely'
import { makeId } from '../../kit/index.ts'
import { recordChanges, type Secrets, type System, type SystemTables } from '../../store/index.ts'
import { makeKeyPair, readAlgorithm, type TokenAlgorithm } from './signing.ts'

/** The result of a rotation, as key ids. */
export interface KeyRotation {
  /** The new signing key. */
  readonly key: string
  readonly algorithm: TokenAlgorithm
  /** No longer sign; each verifies until its last token has expired. */
  readonly retired: readonly string[]
  /** Deleted because their last tokens had expired. */
  readonly removed: readonly string[]
  /** Deleted while they had valid tokens, which were revoked. */
  readonly withdrawn: readonly string[]
  /** The number of revoked access tokens. */
  readonly tokens: number
}

export interface KeyRotationOptions {
  readonly now: number
  /** Delete all old keys immediately, and revoke the access tokens that they signed. */
  readonly withdraw?: boolean
  /** With `withdraw`, tokens that were issued before are left to the caller. */
  readonly revokedFrom?: number
  /** The algorithm of the new key; ES256 by default. */
  readonly algorithm?: TokenAlgorithm
}

/** The place of a private key, as additional data of its encryption. */
export const privateKeyPlace = (row: string) => ({ table: 'waypost_key', row, column: 'private_jwk' }) as const

/**
 * Creates a new signing key, which all servers use within a second, and retires or withdraws the previous keys. Refresh
 * tokens stay valid, because they are not signed.
 */
export async function rotateKey(
  system: System,
  secrets: Secrets,
  { now, withdraw = false, revokedFrom = 0, algorithm = 'ES256' }: KeyRotationOptions,
): Promise<KeyRotation> {
  const spent = await findSpentKeys(system.db, now)
  const made = await makeKey(secrets, algorithm)
  return system.transaction(async (trx) => {
    await lockKeys(system, trx) // so that each rotation retires the key of the previous one
    await deleteKeys(trx, spent)
    const withdrawn = withdraw ? await withdrawKeys(trx) : []
    const retired = await trx
      .updateTable('waypost_key')
      .set({ retired_at: system.now() })
      .where('retired_at', 'is', null)
      .returning('id')
      .execute()
    const tokens = withdraw ? await revokeAccessTokens(trx, { now, from: revokedFrom }) : 0
    await addKey(system, trx, made)
    return { key: made.id, algorithm, retired: retired.map(({ id }) => id), removed: spent, withdrawn, tokens }
  })
}

async function withdrawKeys(trx: Transaction<SystemTables>): Promise<readonly string[]> {
  const rows = await trx.deleteFrom('waypost_key').returning('id').execute()
  return rows.map(({ id }) => id)
}

/** Marks tokens as revoked for lists; without its key, no token can be verified. */
async function revokeAccessTokens(
  trx: Transaction<SystemTables>,
  { now, from }: { readonly now: number; readonly from: number },
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('waypost_token')
    .set({ revoked_at: now })
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where('created_at', '>', from)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Deletes retired keys whose last token has expired. @returns how many */
export async function pruneKeys(system: System, now: number): Promise<number> {
  const spent = await findSpentKeys(system.db, now)
  if (spent.length === 0) return 0
  await system.transaction(async (trx) => {
    await deleteKeys(trx, spent)
    await recordChanges(
      system,
      trx,
      spent.map((subject) => ({ kind: 'key', subject })),
    )
  })
  return spent.length
}

async function deleteKeys(trx: Transaction<SystemTables>, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await trx.deleteFrom('waypost_key').where('id', 'in', ids).execute()
}

/**
 * Creates a signing key of an algorithm, unless there is one. Those of other algorithms keep signing, because servers may
 * still serve a release that uses them.
 */
export async function ensureKey(system: System, secrets: Secrets, algorithm: TokenAlgorithm): Promise<void> {
  const made = await makeKey(secrets, algorithm)
  await system.transaction(async (trx) => {
    await lockKeys(system, trx) // so that servers that start together create one
    const rows = await selectSigning(trx)
    if (!rows.some((row) => readAlgorithm(row.public_jwk) === algorithm)) await addKey(system, trx, made)
  })
}

/** How long the keys of two algorithms sign beside each other: the time in which all servers change to a new release. */
const overlapMs = 10 * 60_000

/**
 * Retires the signing keys of other algorithms than that of the active release. If a server still needs one, it creates
 * another.
 */
export async function retireOtherKeys(
  system: System,
  { now, algorithm }: { readonly now: number; readonly algorithm: TokenAlgorithm },
): Promise<void> {
  const find = async (db: Kysely<SystemTables>) => {
    const rows = await selectSigning(db)
    const [used, others] = [true, false].map((isUsed) =>
      rows.filter((row) => (readAlgorithm(row.public_jwk) === algorithm) === isUsed),
    )
    return used!.some((row) => row.created_at <= now - overlapMs) ? others!.map(({ id }) => id) : []
  }
  if ((await find(system.db)).length === 0) return
  await system.transaction(async (trx) => {
    await lockKeys(system, trx)
    const ids = await find(trx)
    if (ids.length === 0) return
    await trx.updateTable('waypost_key').set({ retired_at: system.now() }).where('id', 'in', ids).execute()
    await recordChanges(
      system,
      trx,
      ids.map((subject) => ({ kind: 'key', subject })),
    )
  })
}

function selectSigning(db: Kysely<SystemTables>) {
  return db
    .selectFrom('waypost_key')
    .select(['id', 'public_jwk', 'created_at'])
    .where('retired_at', 'is', null)
    .execute()
}

/** Serializes changes of the signing keys. A row lock is not enough, because the next row does not exist yet. */
async function lockKeys(system: System, trx: Transaction<SystemTables>): Promise<void> {
  if (system.kind === 'postgresql') await sql`lock table waypost_key in share row exclusive mode`.execute(trx)
}

interface NewKey {
  readonly id: string
  readonly public_jwk: string
  readonly private_jwk: string
}

async function makeKey(secrets: Secrets, algorithm: TokenAlgorithm): Promise<NewKey> {
  const pair = await makeKeyPair(algorithm)
  const id = makeId('key_', 12)
  return {
    id,
    public_jwk: JSON.stringify({ ...pair.publicKey.export({ format: 'jwk' }), kid: id, alg: algorithm, use: 'sig' }),
    private_jwk: secrets.seal(JSON.stringify(pair.privateKey.export({ format: 'jwk' })), privateKeyPlace(id)),
  }
}

/** Stores a new signing key, as the last step of a transaction. */
async function addKey(system: System, trx: Transaction<SystemTables>, made: NewKey): Promise<void> {
  await trx
    .insertInto('waypost_key')
    .values({ ...made, created_at: system.now(), retired_at: null })
    .execute()
  await recordChanges(system, trx, [{ kind: 'key', subject: made.id }])
}

/**
 * How long after its retirement a server may still have signed with a key. Servers learn of it within a second unless
 * they are paused, and their clocks may differ from the database's.
 */
const retirementGraceMs = 60_000

/**
 * Finds retired keys that no token needs: the last one that they can have signed has expired or was revoked.
 * @param known spent keys that need no check
 */
export async function findSpentKeys(
  db: Kysely<SystemTables>,
  now: number,
  known: ReadonlySet<string> = new Set(),
): Promise<readonly string[]> {
  const retired = await db
    .selectFrom('waypost_key')
    .select(['id', 'retired_at'])
    .where('retired_at', '<=', now - retirementGraceMs)
    .execute()
  const spent: string[] = []
  for (const { id, retired_at: retiredAt } of retired) {
    if (!known.has(id) && (await isSpent(db, retiredAt ?? 0, now))) spent.push(id)
  }
  return spent
}

async function isSpent(db: Kysely<SystemTables>, retiredAt: number, now: number): Promise<boolean> {
  const last = await db
    .selectFrom('waypost_token')
    .select('jti')
    .where('expires_at', '>', now)
    .where('created_at', '<=', retiredAt + retirementGraceMs)
    .where('revoked_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return last === undefined
}
