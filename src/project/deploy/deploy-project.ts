import { systemClock } from '../../kit/index.ts'
import { awaitServers, type Activation, type ServerOutcome } from '../../release/index.ts'
import type { AppliedMigration } from '../../host/index.ts'
import { errors } from '../errors.ts'
import { withPlan, type DeployPlan, type Planning, type PlanOptions } from './make-plan.ts'
import type { Upload } from './target.ts'

export interface DeployOptions extends PlanOptions {
  readonly by: string
  readonly message?: string | undefined
  /** Run the migrations that the release needs first; without it they have to have run. */
  readonly migrate?: boolean
  /** Break callers without a question; not where the project or the active release forbids it. */
  readonly isSure?: boolean
  /** Break callers also where that is forbidden. */
  readonly allowBreaking?: boolean
  /** How long to wait for every living server to serve the release; not at all by default. */
  readonly waitMs?: number
  /** Asked when that wait begins, for what ends it. */
  waitSignal?(): AbortSignal
  /** Called with what would change before anything does; not where nothing would. */
  onPlan?(plan: DeployPlan): void
  /** Asked where callers would be broken and nobody is sure; without it that is refused. @returns whether to go on */
  confirm?(plan: DeployPlan): Promise<boolean>
  /** Called when artifacts were sent to a server, which is not always all of the release. */
  onUploaded?(upload: Upload & { readonly of: number }): void
  onMigrated?(migration: AppliedMigration): void
  /** Called once when somebody else migrates the target just now. */
  onMigrationsLocked?(): void
  /** Called when the release is the active one, before the servers are waited for. */
  onActivated?(activation: Activation): void
}

export interface Deployment extends DeployPlan {
  readonly activated: boolean
  readonly migrated: readonly AppliedMigration[]
  /** What came of it on each server. */
  readonly servers: readonly ServerOutcome[]
}

/**
 * Builds the project and makes it the active release of the target: all or nothing. The same again does nothing.
 * @returns undefined when it was not confirmed
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_MIGRATIONS_PENDING, WP_PROJECT_BREAKING, WP_PROJECT_BREAKING_FORBIDDEN,
 * WP_RELEASE_SUPERSEDED
 */
export async function deployProject(options: DeployOptions): Promise<Deployment | undefined> {
  return withPlan({ ...options, isDeployment: true }, async (planning) => {
    const { plan } = planning
    if (plan.id !== plan.active?.id) options.onPlan?.(plan)
    if (!options.migrate && plan.pendingMigrations.length > 0)
      throw errors.WP_PROJECT_MIGRATIONS_PENDING({ names: plan.pendingMigrations.join(', ') })
    return (await isAgreed(plan, options)) ? carryOut(planning, options) : undefined
  })
}

/** @throws WP_PROJECT_BREAKING, WP_PROJECT_BREAKING_FORBIDDEN */
async function isAgreed(plan: DeployPlan, { isSure, allowBreaking, confirm }: DeployOptions): Promise<boolean> {
  const { length } = plan.changes.filter((change) => change.breaking)
  if (length === 0 || allowBreaking === true) return true
  const count = length === 1 ? '1 change breaks callers' : `${length} changes break callers`
  if (plan.breakingChanges === 'forbid') throw errors.WP_PROJECT_BREAKING_FORBIDDEN({ count })
  if (isSure === true) return true
  if (confirm === undefined) throw errors.WP_PROJECT_BREAKING({ count })
  return confirm(plan)
}

async function carryOut({ target, deployable, plan }: Planning, options: DeployOptions): Promise<Deployment> {
  const { release } = deployable
  const against = options.against ?? plan.active?.id ?? 'none'
  const upload = await target.upload(release, plan.missingArtifacts)
  if (upload !== undefined) options.onUploaded?.({ ...upload, of: release.artifacts.length })
  const migrated = await runMigrations({ target, deployable, plan }, options)
  const { by, message } = options
  const activation = await target.activate(release, { by, message, against })
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

async function runMigrations(
  { target, deployable, plan }: Planning,
  options: DeployOptions,
): Promise<readonly AppliedMigration[]> {
  if (plan.pendingMigrations.length === 0) return []
  return target.migrate(deployable, {
    onApplied: (one) => options.onMigrated?.(one),
    onWait: () => options.onMigrationsLocked?.(),
  })
}
