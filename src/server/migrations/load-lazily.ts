// Loading a migration needs what runs a release, which is heavy: it is loaded when a migration is.
import type * as Modules from './load-migration-modules.ts'
import type { AppliedMigration, ReleaseMigrating } from './migrate-release.ts'

type Loader = typeof Modules

export const loadMigrationModules: Loader['loadMigrationModules'] = async (...parameters) =>
  (await import('./load-migration-modules.ts')).loadMigrationModules(...parameters)

export const loadMigration: Loader['loadMigration'] = async (...parameters) =>
  (await import('./load-migration-modules.ts')).loadMigration(...parameters)

export async function migrateRelease(options: ReleaseMigrating): Promise<readonly AppliedMigration[]> {
  return (await import('./migrate-release.ts')).migrateRelease(options)
}
