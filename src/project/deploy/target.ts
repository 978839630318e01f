import type {
  Activated,
  Activation,
  ActivateOptions,
  BuiltRelease,
  DefinitionFile,
  FileHashes,
  LiveServer,
  PublishedFiles,
} from '../../release/index.ts'
import type { Definition } from '../../definition/index.ts'
import type { AppliedMigration } from '../../host/index.ts'
import type { DeploymentSurvey, RollbackSurvey } from '../../operate/index.ts'

/** A release that was built and checked. */
export interface Deployable {
  readonly release: BuiltRelease
  readonly definition: Definition
  /** The folder of the project. */
  readonly folder: string
  /** Its definition files. */
  readonly files: readonly DefinitionFile[]
  /** The Git commit of the folder. */
  readonly commit: string | undefined
  /** Why there is none, if the folder is in a repository. */
  readonly commitProblem?: string
  /** `backend` if the files were edited on a server and are not in Git. */
  readonly kind: 'deploy' | 'backend'
}

/** What the person or pipeline behind an activation allows. A server checks it again. */
export interface Allowed {
  readonly allowBreaking?: boolean | undefined
  readonly allowMissing?: boolean | undefined
  readonly acceptAccess?: boolean | undefined
  readonly overwriteBackend?: boolean | undefined
}

export interface MigrationListener {
  onApplied?(applied: AppliedMigration): void
  /** Called once if another process is migrating the target. */
  onWait?(): void
  /** Stops the migrations; on a server, only the wait for them. */
  readonly signal?: AbortSignal | undefined
}

export interface Upload {
  readonly artifacts: number
  readonly bytes: number
}

/** The target of a deployment: System directly or a running server, behind the same interface. */
export interface DeployTarget {
  /** Its address, without secrets. */
  readonly address: string
  /** The command-line flags that select it: `--url https://…`; empty if the environment does. */
  readonly flags: readonly string[]
  /** Lists the live servers. */
  listServers(): Promise<readonly LiveServer[]>
  /** Returns the id of the active release. */
  loadActiveId(): Promise<string | undefined>
  /** Loads the definition files of the active release, or of the draft; undefined before the first deployment. */
  loadFiles(of: 'release' | 'draft'): Promise<PublishedFiles | undefined>
  /** Lists the definition files of the last activations, the newest first. */
  listFileVersions(): Promise<readonly FileHashes[]>
  /** Throws if a deployment is not possible. Not needed for a plan. Changes nothing. */
  assertDeployable(): Promise<void>
  /** Changes nothing. */
  survey(deployable: Pick<Deployable, 'release' | 'files'>): Promise<DeploymentSurvey>
  /**
   * Uploads the missing artifacts and definition files before migrations and activation.
   * @returns undefined if uploads are not needed
   */
  upload(deployable: Pick<Deployable, 'release' | 'files'>, missing: readonly string[]): Promise<Upload | undefined>
  /** Runs the pending migrations of a release in order, under the lock. Its artifacts are already uploaded. */
  migrate(deployable: Pick<Deployable, 'release'>, listener: MigrationListener): Promise<readonly AppliedMigration[]>
  /**
   * Stores the release and activates it, atomically.
   * @throws WP_RELEASE_SUPERSEDED
   */
  activate(release: BuiltRelease, options: ActivateOptions & Allowed): Promise<Activation>
  /**
   * Returns the effects of a rollback to the release whose id begins with the text, by default the previously active
   * one. Changes nothing.
   */
  surveyRollback(beginning: string | undefined): Promise<RollbackSurvey>
  /**
   * Activates a stored release. With `keepDraft`, the definition files of the undone release become the draft.
   * @throws WP_RELEASE_SUPERSEDED, WP_BACKEND_ROLLBACK_DRAFT, WP_BACKEND_DRAFT, and the errors of `surveyRollback`
   */
  rollBack(id: string, options: ActivateOptions & Allowed & { readonly keepDraft: boolean }): Promise<Activated>
  close(): Promise<void>
}
