import type { PluginSet } from '../../plugin/index.ts'
import type {
  Activation,
  ActivateOptions,
  BuiltRelease,
  MissingVariable,
  LiveServer,
  RollbackSurvey,
  StoredRelease,
} from '../../release/index.ts'
import type { AppliedMigration } from '../../host/index.ts'

/** A release that was built and checked, and the plugins that its project has beside the first-party ones. */
export interface Deployable {
  readonly release: BuiltRelease
  readonly plugins: PluginSet
}

/** What stands at a target, seen from a release that may come there. */
export interface TargetSurvey {
  /** The id that the release would have there. */
  readonly id: string
  readonly active: StoredRelease | undefined
  /** Hashes of the artifacts that have to be uploaded; none where `activate` stores them itself. */
  readonly missingArtifacts: readonly string[]
  /** Scopes that the release needs and no active user has. */
  readonly unheldScopes: readonly string[]
  /** Variables that the release needs and living servers lack. */
  readonly lackingVariables: readonly MissingVariable[]
  /** Migrations of the release that have not run, as `Connection/name`, in the order in which they will. */
  readonly pendingMigrations: readonly string[]
}

export interface MigrationListener {
  onApplied?(applied: AppliedMigration): void
  /** Called once when somebody else migrates the target just now. */
  onWait?(): void
}

export interface Upload {
  readonly artifacts: number
  readonly bytes: number
}

/** Where a deployment goes: System directly, or a running server. Whoever deploys does not know which of the two. */
export interface DeployTarget {
  /** Its address, without secrets. */
  readonly address: string
  /** What names it again at the command line: `--url https://…`; nothing where the environment names it. */
  readonly flags: readonly string[]
  /** The servers that are alive there. */
  listServers(): Promise<readonly LiveServer[]>
  /** Throws what would keep a deployment from the target; a plan goes without it. Changes nothing. */
  assertDeployable(): Promise<void>
  /** Changes nothing. */
  survey(deployable: Deployable): Promise<TargetSurvey>
  /** Brings the missing artifacts there, before migrations and activation. @returns undefined where nothing travels ahead */
  upload(release: BuiltRelease, missing: readonly string[]): Promise<Upload | undefined>
  /** Runs the migrations of a release that have not run, in order, under the lock; its artifacts are there already. */
  migrate(deployable: Deployable, told: MigrationListener): Promise<readonly AppliedMigration[]>
  /** Stores the release and makes it the active one: all or nothing. @throws WP_RELEASE_SUPERSEDED */
  activate(release: BuiltRelease, options: ActivateOptions): Promise<Activation>
  /**
   * What going back to a release would mean, by the beginning of its id or, without one, to the release that was active
   * before. Throws what keeps anybody from it. Changes nothing.
   */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
  /** Makes a release that is stored there the active one. @throws WP_RELEASE_SUPERSEDED, and what `surveyRollback` does */
  rollBack(id: string, options: ActivateOptions): Promise<Activation>
  close(): Promise<void>
}
