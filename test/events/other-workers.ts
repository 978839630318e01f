// Workers as rows of System: how many have lanes, and one of another machine that no process runs.
import { setTimeout as pause } from 'node:timers/promises'
import type { World } from './world.ts'

/** How many workers have lanes, if all lanes have one. */
export async function countOwners({ system }: World): Promise<number> {
  const rows = await system.db.selectFrom('waypost_lane').select('worker_id').execute()
  return rows.some((row) => row.worker_id === null) ? 0 : new Set(rows.map((row) => row.worker_id)).size
}

/** A worker of another machine that has all lanes, and a lease for 15 s. */
export async function hold({ system, clock }: World, changes: { leaving?: 1 } = {}): Promise<void> {
  const id = 'wrk_holder'
  const row = { id, place: 'elsewhere', pid: 1, started: '1', beat: 0, lease_until: clock.now() + 15_000, note: '[]' }
  await system.db
    .insertInto('waypost_worker')
    .values({ leaving: 0 as const, ...row, ...changes })
    .execute()
  await system.db.updateTable('waypost_lane').set({ worker_id: id }).execute()
}

/** Renews the lease of that worker. */
export async function beat({ system, clock }: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const lease = { lease_until: clock.now() + 15_000 }
    await system.db
      .updateTable('waypost_worker')
      .set((column) => ({ ...lease, beat: column('beat', '+', 1) }))
      .where('id', '=', 'wrk_holder')
      .execute()
    await pause(50)
  }
}
