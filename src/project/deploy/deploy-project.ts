import { systemClock } from '../../kit/index.ts'
import { awaitServers, type Activation, type ServerOutcome } from '../../release/index.ts'
import type { AppliedMigration } from '../../host/index.ts'
import { activateJudged, assertAllowed, judgeRelease, type Consent, type Judgement } from '../../operate/index.ts'
import { assertActionsFit, withPlan, type DeployPlan, type DeploymentContext, type PlanOptions } from './make-plan.ts'
import type { Upload } from './target.ts'

export interface DeployOptions extends PlanOptions {
  readonly by: string
  readonly message?: string | undefined
  /** Run the pending migrations of the release first. Otherwise they must have been run. */
  readonly migrate?: boolean
  /** Allow what needs a yes without confirmation, except breaking changes that the project or the active release forbids. */
  readonly isConfirmed?: boolean
  /** Allow breaking changes even if they are forbidden. */
  readonly allowBreaking?: boolean
  /** Allow variables that running servers lack. */
  readonly allowMissing?: boolean
  /** Deploy although changes that were made in the backend are lost. */
  readonly overwriteBackend?: boolean
  /** How long to wait until each live server serves the release, in milliseconds; by default it does not wait. */
  readonly waitMs?: number
  /** Called when the wait begins. Returns a signal that ends it. */
  waitSignal?(): AbortSignal
  /** Called when migrations begin. Returns a signal that stops them; of a server, only the wait for them. */
  migrateSignal?(): AbortSignal
  /** Called with the plan before anything changes; not called without changes. */
  onPlan?(plan: DeployPlan): void
  /**
   * Called for what needs a yes: breaking changes and new warnings about access. Without it, these are rejected.
   * @returns whether to continue
   */
  confirm?(plan: DeployPlan, judgement: Judgement): Promise<boolean>
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
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_ACTIONS, WP_RELEASE_SUPERSEDED, and the problems of
 * `judgeRelease`
 */
export async function deployProject(options: DeployOptions): Promise<Deployment | undefined> {
  return withPlan({ ...options, isDeployment: true }, async (planning) => {
    const { plan } = planning
    if (plan.id !== plan.active?.id || plan.filesChanged || plan.changedSinceGit) options.onPlan?.(plan)
    return (await confirmPlan(plan, options)) ? applyPlan(planning, options) : undefined
  })
}

/** @throws the problem of the first objection, if a yes in the terminal does not remove it */
async function confirmPlan(plan: DeployPlan, options: DeployOptions): Promise<boolean> {
  const judgement = judgeRelease(plan, consentOf(options))
  if (judgement.verdict === 'allowed') return true
  if (judgement.verdict === 'asks' && options.confirm !== undefined) return options.confirm(plan, judgement)
  assertAllowed(plan, consentOf(options))
  return true
}

function consentOf({ isConfirmed, allowBreaking, allowMissing, overwriteBackend, migrate }: DeployOptions): Consent {
  return { isConfirmed, allowBreaking, allowMissing, overwriteBackend, acceptAccess: isConfirmed, migrate }
}

async function applyPlan(planning: DeploymentContext, options: DeployOptions): Promise<Deployment> {
  const { target, deployable, plan } = planning
  const { release, files, commit, kind } = deployable
  const upload = await target.upload(deployable, plan.missingArtifacts)
  if (upload !== undefined) options.onUploaded?.({ ...upload, of: release.artifacts.length + files.length })
  const migrated = await runMigrations(planning, options)
  const { by, message, against, allowBreaking, allowMissing, overwriteBackend } = options
  // What needed a yes has it by now.
  const consent = consentOf({ ...options, isConfirmed: true })
  const judged = { facts: { ...plan, pendingMigrations: [] }, consent }
  const acceptAccess = plan.accessWarnings.length > 0
  const activation = await activateJudged(
    judged,
    { by, message, against, allowBreaking, allowMissing, overwriteBackend, acceptAccess, files, commit, kind },
    (bound) => target.activate(release, bound),
  )
  options.onActivated?.(activation)
  const servers = await awaitServers({
    release: activation.id,
    limitMs: options.waitMs ?? 0,
    clock: systemClock,
    signal: options.waitSignal?.(),
    list: () => target.listServers(),
    loadActiveId: () => target.loadActiveId(),
  })
  return { ...plan, ...activation, migrated, servers }
}

/** After migrations, checks the actions that could not be checked before. */
async function runMigrations(
  { target, deployable, plan, report }: DeploymentContext,
  options: DeployOptions,
): Promise<readonly AppliedMigration[]> {
  if (plan.pendingMigrations.length === 0) return []
  const applied = await target.migrate(deployable, {
    onApplied: (one) => options.onMigrated?.(one),
    onWait: () => options.onMigrationsLocked?.(),
    signal: options.migrateSignal?.(),
  })
  await assertActionsFit(deployable, await target.survey(deployable), report)
  return applied
}
