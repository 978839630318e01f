import type { System } from '../store/index.ts'

/** Notes that a server serves a release: others may fall back to it. */
export async function noteCameUp(system: System, id: string): Promise<void> {
  await system.db.updateTable('waypost_release').set({ came_up_at: system.now() }).where('id', '=', id).execute()
}

/** Ids of releases that came up on any server, the last one first. */
export async function listCameUp(
  { guardDb }: Pick<System, 'guardDb'>,
  { except, limit }: { readonly except: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await guardDb
    .selectFrom('waypost_release')
    .select('id')
    .where('came_up_at', 'is not', null)
    .where('id', '<>', except)
    .orderBy('came_up_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
