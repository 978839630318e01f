import type { Migration } from '../../contract/index.ts'
import { errors } from './errors.ts'
import { compareNames, loadApplied, type AnyDatabase, type MigrationRow } from './migration-table.ts'

/** A migration of a project, loaded. */
export interface ProjectMigration {
  /** The file's name without its ending; migrations run in the order of their names. */
  readonly name: string
  /** Of the source, at most 128 characters. */
  readonly checksum: string
  readonly migration: Migration
}

/** As much of a migration as says whether it ran. */
export type NamedMigration = Pick<ProjectMigration, 'name' | 'checksum'>

/** A project's migrations beside what its database has. Names are in order. */
export interface MigrationPlan<One extends NamedMigration = ProjectMigration> {
  readonly applied: readonly MigrationRow[]
  readonly pending: readonly One[]
  /** Pending ones that sort before an applied one: allowed, but worth a word. */
  readonly outOfOrder: readonly string[]
  /** Applied ones whose text is another one now. */
  readonly edited: readonly string[]
  /** Applied ones that the project does not have. */
  readonly unknown: readonly string[]
}

/** Compares migrations with what was applied, which without a database is nothing; changes nothing. */
export async function planMigrations<One extends NamedMigration>(
  db: AnyDatabase | undefined,
  migrations: readonly One[],
): Promise<MigrationPlan<One>> {
  const applied = db === undefined ? [] : await loadApplied(db)
  const checksums = new Map(applied.map((row) => [row.name, row.checksum]))
  const ordered = migrations.toSorted((a, b) => compareNames(a.name, b.name))
  const names = new Set(ordered.map(({ name }) => name))
  const pending = ordered.filter(({ name }) => !checksums.has(name))
  const last = applied.at(-1)?.name
  return {
    applied,
    pending,
    outOfOrder: pending.flatMap(({ name }) => (last !== undefined && compareNames(name, last) < 0 ? [name] : [])),
    edited: ordered.flatMap(({ name, checksum }) =>
      checksums.has(name) && checksums.get(name) !== checksum ? [name] : [],
    ),
    unknown: applied.flatMap(({ name }) => (names.has(name) ? [] : [name])),
  }
}

/**
 * @param redo the command that reverts and reapplies them
 * @throws WP_MIGRATE_EDITED, WP_MIGRATE_UNKNOWN
 */
export function assertSound(plan: MigrationPlan, redo: string): void {
  if (plan.edited.length > 0) throw errors.WP_MIGRATE_EDITED({ names: quote(plan.edited), redo })
  if (plan.unknown.length > 0) throw errors.WP_MIGRATE_UNKNOWN({ names: quote(plan.unknown), redo })
}

export function quote(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
