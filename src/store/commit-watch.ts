import type { SqliteDatabase } from './sql/sqlite-dialect.ts'
import type { System } from './system.ts'

/** Notices commits of all processes in microseconds. */
export interface CommitWatch {
  /** Other than before if something was committed in between. */
  version(): unknown
  close(): void
}

/** @returns undefined on PostgreSQL, where only a query shows it */
export function openCommitWatch({ kind, database }: System): CommitWatch | undefined {
  if (kind !== 'sqlite') return undefined
  const handle = (database as SqliteDatabase).openHandle(true)
  const version = handle.prepare('pragma data_version')
  return { version: () => version.get()?.['data_version'], close: () => handle.close() }
}
