import { checkModules, openBuilder } from '../../build/index.ts'
import { hasErrors, systemClock, version, type Diagnostic, type Variables } from '../../kit/index.ts'
import {
  assertActive,
  awaitServers,
  compareManifests,
  type Activation,
  type ReleaseChange,
  type ServerOutcome,
} from '../../release/index.ts'
import { artifactLoader } from '../../runtime/index.ts'
import type { AppliedMigration } from '../../server/index.ts'
import { errors } from '../errors.ts'
import { findProject, type Project } from '../find-project.ts'
import { assertBuilt, buildProject } from '../load-project.ts'
import { openTarget } from './open-target.ts'
import type { Deployable, DeployTarget, TargetSurvey, Upload } from './target.ts'

export interface DeployOptions {
  readonly folder: string
  readonly variables: Variables
  /** The address of a running server; without it System, as the environment names it. */
  readonly url?: string | undefined
  readonly by: string
  readonly message?: string | undefined
  readonly against?: string | undefined
  /** Run the migrations that the release needs first; without it they have to have run. */
  readonly migrate?: boolean
  /** How long to wait for every living server to serve the release; not at all by default. */
  readonly waitMs?: number
  /** Asked when that wait begins, for what ends it. */
  waitSignal?(): AbortSignal
  /** Called with the target's address before anything else happens. */
  onTarget?(target: string): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
  /** Called with what would change before anything does. @returns whether to go on */
  confirm?(plan: DeployPlan): Promise<boolean>
  /** Called when artifacts were sent to a server, which is not always all of the release. */
  onUploaded?(upload: Upload & { readonly of: number }): void
  onMigrated?(migration: AppliedMigration): void
  /** Called once when somebody else migrates the target just now. */
  onMigrationsLocked?(): void
  /** Called when the release is the active one, before the servers are waited for. */
  onActivated?(activation: Activation): void
}

export interface DeployPlan extends TargetSurvey {
  readonly changes: readonly ReleaseChange[]
}

export interface Deployment extends DeployPlan {
  readonly activated: boolean
  readonly migrated: readonly AppliedMigration[]
  readonly servers: readonly ServerOutcome[]
}

/**
 * Builds the project and makes it the active release of the target: all or nothing. The same again does nothing.
 * @returns undefined when it was not confirmed
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_MIGRATIONS_PENDING, WP_RELEASE_SUPERSEDED
 */
export async function deployProject(options: DeployOptions): Promise<Deployment | undefined> {
  const project = findProject(options.folder)
  // The target before the build: a pipeline that reaches nothing should not wait for a build to hear of it.
  const target = await openTarget(options)
  try {
    options.onTarget?.(target.address)
    await target.assertDeployable()
    const deployable = await buildDeployable(project, options)
    const plan = await makePlan(target, deployable)
    if (!options.migrate && plan.pendingMigrations.length > 0)
      throw errors.WP_PROJECT_MIGRATIONS_PENDING({ names: plan.pendingMigrations.join(', ') })
    if (plan.id !== plan.active?.id && options.confirm !== undefined && !(await options.confirm(plan))) return undefined
    return await carryOut(target, { deployable, plan, options })
  } finally {
    await target.close()
  }
}

async function carryOut(
  target: DeployTarget,
  { deployable, plan, options }: { deployable: Deployable; plan: DeployPlan; options: DeployOptions },
): Promise<Deployment> {
  const { release } = deployable
  const against = options.against ?? plan.active?.id ?? 'none'
  // Before the migrations too: what is active has to bear them, and somebody has looked whether it does.
  if (plan.id !== plan.active?.id) assertActive(plan.active, against)
  const upload = await target.upload(release, plan.missingArtifacts)
  if (upload !== undefined) options.onUploaded?.({ ...upload, of: release.artifacts.length })
  const migrated = await runMigrations(target, { deployable, plan, options })
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
  target: DeployTarget,
  { deployable, plan, options }: { deployable: Deployable; plan: DeployPlan; options: DeployOptions },
): Promise<readonly AppliedMigration[]> {
  if (plan.pendingMigrations.length === 0) return []
  return target.migrate(deployable, {
    onApplied: (one) => options.onMigrated?.(one),
    onWait: () => options.onMigrationsLocked?.(),
  })
}

async function makePlan(target: DeployTarget, deployable: Deployable): Promise<DeployPlan> {
  const survey = await target.survey(deployable)
  return { ...survey, changes: compareManifests(survey.active?.manifest, deployable.release.manifest) }
}

/** The project, built and each of its modules loaded once. @throws WP_PROJECT_BROKEN after the diagnostics were reported */
async function buildDeployable(project: Project, options: DeployOptions): Promise<Deployable> {
  const builder = openBuilder({ ...project, version })
  try {
    const built = await buildProject(project, builder)
    const release = assertBuilt(built, (diagnostics) => options.onDiagnostics?.(diagnostics))
    const broken = await checkModules(release, { loader: artifactLoader })
    if (hasErrors(broken)) {
      options.onDiagnostics?.(broken)
      throw errors.WP_PROJECT_BROKEN({ count: broken.length === 1 ? '1 error' : `${broken.length} errors` })
    }
    return { release, plugins: built.plugins }
  } finally {
    await builder.close()
  }
}
