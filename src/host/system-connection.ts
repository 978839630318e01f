import type { OpenConnection } from '../contract/index.ts'
import { runInSavepoint, type System } from '../store/index.ts'

/** Returns System as actions see it: Kysely over the application's tables, on the same pool as Waypost's own. */
export function systemConnection(system: System): OpenConnection {
  return {
    client: system.db,
    check: () => checkSystem(system),
    transaction: (work) => system.db.transaction().execute((trx) => work(trx)),
    savepoint: runInSavepoint,
    close: async () => undefined,
  }
}

export async function checkSystem(system: System): Promise<void> {
  await system.check()
  await system.guardDb.selectFrom('waypost_feed_head').select('id').execute()
}
