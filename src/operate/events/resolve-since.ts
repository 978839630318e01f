import type { Since } from '../../kit/index.ts'
import { type System, loadDatabaseTime } from '../../store/index.ts'

/** The moment in milliseconds since 1970; how long ago something was is meant by the database's clock. */
export async function resolveSince(system: System, since: Since): Promise<number> {
  return 'atMs' in since ? since.atMs : (await loadDatabaseTime(system)) - since.agoMs
}
