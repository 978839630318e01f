import { systemClock } from '../../kit/index.ts'
import { awaitServers, type Activation, type ServerOutcome } from '../../release/index.ts'
import type { AppliedMigration } from '../../host/index.ts'
import { errors } from '../errors.ts'
import { assertActionsFit, withPlan, type DeployPlan, type PlanContext, type PlanOptions } from './make-plan.ts'
import type { Upload } from './target.ts'

export interface DeployOptions extends PlanOptions {
  readonly by: string
  readonly message?: string | undefined
  /** Run the pending migrations of the release first. Otherwise they must have been run. */
  readonly migrate?: boolean
  /** Allow breaking changes without confirmation, unless the project or the active release forbids them. */
  readonly isConfirmed?: boolean
  /** Allow breaking changes even if they are forbidden. */
  readonly allowBreaking?: boolean
  /** Deploy although changes that were made in the backend are lost. */
  readonly overwriteBackend?: boolean
  /** How long to wait until each live server serves the release, in milliseconds; by default it does not wait. */
  readonly waitMs?: number
  /** Called when the wait begins. Returns a signal that ends it. */
  waitSignal?(): AbortSignal
  /** Called with the plan before anything changes; not called without changes. */
  onPlan?(plan: DeployPlan): void
  /**
   * Called for breaking changes that need confirmation. Without it they are rejected.
   * @returns whether to continue
   */
  confirm?(plan: DeployPlan): Promise<boolean>
  /** Called after artifacts were uploaded to a server, which may already have some. */
  onUploaded?(upload: Upload & { readonly of: number }): void
  onMigrated?(migration: AppliedMigration): void
  /** Called once if another process is migrating the target. */
  onMigrationsLocked?(): void
  /** Called after activation, before waiting for servers. */
  onActivated?(activation: Activation): void
}

export interface Deployment extends DeployPlan {
  readonly activated: boolean
  /** Whether an activation was recorded; also if only the definition files differ from those of the active release. */
  readonly recorded: boolean
  readonly migrated: readonly AppliedMigration[]
  /** The result on each server. */
  readonly servers: readonly ServerOutcome[]
}

/**
 * Builds the project and activates it at the target, atomically. An unchanged project changes nothing.
 * @returns undefined if it was not confirmed
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_ACTIONS, WP_PROJECT_MIGRATIONS_PENDING,
 * WP_PROJECT_MIGRATIONS_DROPPED, WP_PROJECT_OVERWRITES, WP_PROJECT_BREAKING, WP_PROJECT_BREAKING_FORBIDDEN,
 * WP_RELEASE_SUPERSEDED
 */
export async function deployProject(options: DeployOptions): Promise<Deployment | undefined> {
  return withPlan({ ...options, isDeployment: true }, async (planning) => {
    const { plan } = planning
    if (plan.id !== plan.active?.id || plan.filesChanged || plan.changedSinceGit) options.onPlan?.(plan)
    const { length } = plan.overwritten
    if (length > 0 && options.overwriteBackend !== true)
      throw errors.WP_PROJECT_OVERWRITES({
        count: length === 1 ? '1 change' : `${length} changes`,
        hint: plan.overwriteHint ?? '',
      })
    if (plan.droppedMigrations.length > 0)
      throw errors.WP_PROJECT_MIGRATIONS_DROPPED({ names: plan.droppedMigrations.join(', ') })
    if (!options.migrate && plan.pendingMigrations.length > 0)
      throw errors.WP_PROJECT_MIGRATIONS_PENDING({ names: plan.pendingMigrations.join(', ') })
    return (await confirmBreaking(plan, options)) ? applyPlan(planning, options) : undefined
  })
}

/** @throws WP_PROJECT_BREAKING, WP_PROJECT_BREAKING_FORBIDDEN */
async function confirmBreaking(
  plan: DeployPlan,
  { isConfirmed, allowBreaking, confirm }: DeployOptions,
): Promise<boolean> {
  const { length } = plan.changes.filter((change) => change.breaking)
  if (length === 0 || allowBreaking === true) return true
  const count = length === 1 ? '1 change breaks callers' : `${length} changes break callers`
  if (plan.breakingChanges === 'forbid') throw errors.WP_PROJECT_BREAKING_FORBIDDEN({ count })
  if (isConfirmed === true) return true
  if (confirm === undefined) throw errors.WP_PROJECT_BREAKING({ count })
  return confirm(plan)
}

async function applyPlan(planning: PlanContext, options: DeployOptions): Promise<Deployment> {
  const { target, deployable, plan } = planning
  const { release, files, commit, kind } = deployable
  const against = options.against ?? plan.active?.id ?? 'none'
  const upload = await target.upload(deployable, plan.missingArtifacts)
  if (upload !== undefined) options.onUploaded?.({ ...upload, of: release.artifacts.length + files.length })
  const migrated = await runMigrations(planning, options)
  const { by, message } = options
  const activation = await target.activate(release, { by, message, against, files, commit, kind })
  options.onActivated?.(activation)
  const servers = await awaitServers({
    release: activation.id,
    limitMs: options.waitMs ?? 0,
    clock: systemClock,
    signal: options.waitSignal?.(),
    list: () => target.listServers(),
  })
  return { ...plan, ...activation, migrated, servers }
}

/** After migrations, checks the actions that could not be checked before. */
async function runMigrations(
  { target, deployable, plan, report }: PlanContext,
  options: DeployOptions,
): Promise<readonly AppliedMigration[]> {
  if (plan.pendingMigrations.length === 0) return []
  const applied = await target.migrate(deployable, {
    onApplied: (one) => options.onMigrated?.(one),
    onWait: () => options.onMigrationsLocked?.(),
  })
  await assertActionsFit(deployable, await target.survey(deployable), report)
  return applied
}
