import type { FailingAction } from '../../../host/index.ts'
import type { ChangePlan, LiveServer, MissingVariable } from '../../../release/index.ts'

/** What is known about a release before it may become active, whichever way it is meant to get there. */
export interface ReleaseFacts extends ChangePlan {
  readonly id: string
  /** The version of Waypost that built the release. */
  readonly built: string
  /** The active release, with which it was compared. */
  readonly active: { readonly id: string } | undefined
  /** Live servers with an older version than the one that built the release: they cannot serve it. */
  readonly olderServers: readonly Pick<LiveServer, 'name' | 'version'>[]
  /** Variables that the release needs and live servers lack. */
  readonly missingVariables: readonly MissingVariable[]
  /** Migrations of the release that have not run, as `Connection/name`, in the order in which they will run. */
  readonly pendingMigrations: readonly string[]
  /** Migrations that have run and that the active release has but this one lacks, as `Connection/name`. */
  readonly droppedMigrations: readonly string[]
  /** Methods that would fail. Connections with pending migrations are not checked. */
  readonly failingActions: readonly FailingAction[]
  /** Only of a rollback: it runs and reverts no migrations. */
  readonly rollback?: {
    /** Migrations that have run since, and that break code which was written before them. */
    readonly incompatibleMigrations: readonly IncompatibleMigration[]
  }
}

export interface IncompatibleMigration {
  /** `Connection/name`. */
  readonly name: string
  /** The steps of a migration in YAML that break; empty for one in code, which is marked `breaking: true`. */
  readonly steps: readonly string[]
}
