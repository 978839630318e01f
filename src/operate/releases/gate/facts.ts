import type { OverwrittenPlace } from '../../../definition/index.ts'
import type { FailingAction } from '../../../host/index.ts'
import type { ReleaseDifference, LiveServer, MissingVariable, StoredRelease } from '../../../release/index.ts'
import type { Rollbacks } from './find-rollbacks.ts'

/** What is known about a release before it may become active, whichever way it is meant to get there. */
export interface ReleaseFacts extends ReleaseDifference {
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
  /** Scopes that the release needs and no active user has. */
  readonly unheldScopes: readonly string[]
  /** Which earlier releases a rollback can still return to afterwards. */
  readonly rollbacks: Rollbacks
  /** Only of a deployment: what was changed in the backend since the files were last in Git, and the release does not have. */
  readonly overwritten?: readonly OverwrittenPlace[]
  /** How to keep or undo these changes, if that depends on the project. */
  readonly overwriteHint?: string | undefined
  /** Only of a rollback: it runs and reverts no migrations. */
  readonly rollback?: {
    /** Migrations that have run since, and that break code which was written before them. */
    readonly incompatibleMigrations: readonly IncompatibleMigration[]
  }
}

/** What is known about a release that is sent to System or to a server, with its definition files. */
export interface DeploymentSurvey extends ReleaseFacts {
  readonly active: Omit<StoredRelease, 'manifest'> | undefined
  /** Whether the release is active with other definition files: only comments or the layout of files changed. */
  readonly filesChanged: boolean
  /** Whether the active definition was changed in the backend since it was last deployed from a folder. */
  readonly changedSinceGit: boolean
  /** Hashes of the artifacts and definition files to upload; empty if the activation stores them itself. */
  readonly missingArtifacts: readonly string[]
  /** Set if `dev` built the active release. Its code differs from that of any deployment, so the changes leave code out. */
  readonly builtByDev?: true
}

/** What is known before a rollback to a release. */
export interface RollbackSurvey extends ReleaseFacts {
  /** Migrations that ran since and are in no stored release, so it is unknown whether they are breaking. */
  readonly unknownMigrations: readonly string[]
  /** Connections that could not be opened to read their applied migrations. */
  readonly unreachable: readonly string[]
}

export interface IncompatibleMigration {
  /** `Connection/name`. */
  readonly name: string
  /** The steps of a migration in YAML that break; empty for one in code, which is marked `breaking: true`. */
  readonly steps: readonly string[]
}
