import type { Migration } from '../../contract/index.ts'
import { errors } from './errors.ts'
import { compareNames, loadApplied, type ConnectionDatabase, type MigrationRow } from './migration-table.ts'

/** A loaded migration of a project. */
export interface ProjectMigration {
  /** The file's name without extension. Migrations run in the order of their names. */
  readonly name: string
  /** Checksum of the source, at most 128 characters. */
  readonly checksum: string
  /** What it does, of a migration in code: see `ManifestMigration.code`. */
  readonly code?: string | undefined
  readonly migration: Migration
}

/** The parts of a migration that identify it. */
export type NamedMigration = Pick<ProjectMigration, 'name' | 'checksum' | 'code'>

/** A project's migrations compared with those applied to its database. Names are sorted. */
export interface MigrationPlan<One extends NamedMigration = ProjectMigration> {
  readonly applied: readonly MigrationRow[]
  readonly pending: readonly One[]
  /** Pending migrations that sort before an applied one: allowed, but worth a warning. */
  readonly outOfOrder: readonly string[]
  /** Applied migrations that no longer do the same; without comparable codes, those whose text has changed. */
  readonly edited: readonly string[]
  /** Applied migrations that the project does not contain. */
  readonly unknown: readonly string[]
}

/** Compares migrations with those that were applied; without a database, none were. Changes nothing. */
export async function planMigrations<One extends NamedMigration>(
  database: ConnectionDatabase | undefined,
  migrations: readonly One[],
): Promise<MigrationPlan<One>> {
  const applied = database === undefined ? [] : await loadApplied(database)
  const rows = new Map(applied.map((row) => [row.name, row]))
  const ordered = migrations.toSorted((a, b) => compareNames(a.name, b.name))
  const names = new Set(ordered.map(({ name }) => name))
  const pending = ordered.filter(({ name }) => !rows.has(name))
  const last = applied.at(-1)?.name
  return {
    applied,
    pending,
    outOfOrder: pending.flatMap(({ name }) => (last !== undefined && compareNames(name, last) < 0 ? [name] : [])),
    edited: ordered.flatMap((one) => {
      const row = rows.get(one.name)
      return row === undefined || isSame(row, one) ? [] : [one.name]
    }),
    unknown: applied.flatMap(({ name }) => (names.has(name) ? [] : [name])),
  }
}

function isSame(row: MigrationRow, one: NamedMigration): boolean {
  return isComparable(row, one) ? row.code === one.code : row.checksum === one.checksum
}

const tagLength = 4

/** Whether the codes of both are known and were written by the same version of the compiler. */
export function isComparable(row: MigrationRow, { code }: NamedMigration): boolean {
  return row.code !== undefined && code?.slice(0, tagLength) === row.code.slice(0, tagLength)
}

/**
 * @param redo the command that reverts and reapplies them
 * @throws WP_MIGRATE_EDITED, WP_MIGRATE_UNKNOWN
 */
export function assertConsistent(plan: MigrationPlan, redo: string): void {
  if (plan.edited.length > 0) throw errors.WP_MIGRATE_EDITED({ names: quote(plan.edited), redo })
  if (plan.unknown.length > 0) throw errors.WP_MIGRATE_UNKNOWN({ names: quote(plan.unknown), redo })
}

export function quote(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
