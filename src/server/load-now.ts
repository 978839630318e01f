import type { System } from '../store/index.ts'

/** The database's time, in milliseconds since 1970. */
export async function loadNow(system: System): Promise<number> {
  const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
  return now
}
