import type { System } from './system.ts'

/** The database's time, in milliseconds since 1970. */
export async function loadDatabaseTime(system: System): Promise<number> {
  const { now } = await system.db.selectNoFrom(system.now().as('now')).executeTakeFirstOrThrow()
  return now
}
