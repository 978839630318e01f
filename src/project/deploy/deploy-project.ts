import { checkModules, openBuilder } from '../../build/index.ts'
import { hasErrors, version, type Diagnostic, type Variables } from '../../kit/index.ts'
import { compareManifests, type LiveServer, type ReleaseChange } from '../../release/index.ts'
import { artifactLoader } from '../../runtime/index.ts'
import { errors } from '../errors.ts'
import { findProject, type Project } from '../find-project.ts'
import { assertBuilt, buildProject } from '../load-project.ts'
import { openTarget } from './open-target.ts'
import type { Deployable, DeployTarget, TargetSurvey } from './target.ts'

export interface DeployOptions {
  readonly folder: string
  readonly variables: Variables
  readonly by: string
  readonly message?: string | undefined
  readonly against?: string | undefined
  /** Called with the target's address before anything else happens. */
  onTarget?(target: string): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
  /** Called with what would change before anything does. @returns whether to go on */
  confirm?(plan: DeployPlan): Promise<boolean>
}

export interface DeployPlan extends TargetSurvey {
  readonly changes: readonly ReleaseChange[]
}

export interface Deployment extends DeployPlan {
  readonly activated: boolean
  readonly servers: readonly LiveServer[]
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
    if (plan.pendingMigrations.length > 0)
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
  await target.upload(release, plan.missingArtifacts)
  const { id, activated } = await target.activate(release, {
    by: options.by,
    message: options.message,
    against: options.against ?? plan.active?.id,
  })
  return { ...plan, id, activated, servers: await target.listServers() }
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
