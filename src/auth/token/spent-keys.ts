import type { Kysely } from 'kysely'
import type { SystemTables } from '../../store/index.ts'

/**
 * How long after a key was retired a server may still have signed with it: one hears of it within a second, or was
 * stopped meanwhile; and its clock may differ from the database's.
 */
const lateMs = 60_000

/**
 * Retired keys that no token needs any more: the last one that they can have signed has expired, or was revoked.
 * @param known need not be looked at again
 */
export async function findSpentKeys(
  db: Kysely<SystemTables>,
  now: number,
  known: ReadonlySet<string> = new Set(),
): Promise<readonly string[]> {
  const retired = await db
    .selectFrom('waypost_key')
    .select(['id', 'retired_at'])
    .where('retired_at', '<=', now - lateMs)
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
    .where('created_at', '<=', retiredAt + lateMs)
    .where('revoked_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return last === undefined
}
