import type { System } from '../../store/index.ts'

/** Those of some scopes that no active user has, so that no token can carry them. */
export async function findUnheldScopes({ db }: System, scopes: readonly string[]): Promise<readonly string[]> {
  if (scopes.length === 0) return []
  const rows = await db
    .selectFrom('waypost_user_scope as held')
    .innerJoin('waypost_user as user', 'user.id', 'held.user_id')
    .select('held.scope')
    .where('user.status', '=', 'active')
    .distinct()
    .execute()
  const held = new Set(rows.map(({ scope }) => scope))
  return scopes.filter((scope) => !held.has(scope))
}
