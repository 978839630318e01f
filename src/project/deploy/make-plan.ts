import type { Diagnostic, Variables } from '../../kit/index.ts'
import { assertActive, compareManifests, type LiveServer, type ReleaseChange } from '../../release/index.ts'
import { findProject } from '../find-project.ts'
import { breakingPolicy } from './breaking-policy.ts'
import { assertTarget } from './assert-target.ts'
import { startBuild, type StartedBuild } from './start-build.ts'
import type { Deployable, DeployTarget, TargetSurvey } from './target.ts'

export interface PlanOptions {
  readonly folder: string
  readonly variables: Variables
  /** The address of a running server; without it System, as the environment names it. */
  readonly url?: string | undefined
  /** Only if this release is the active one; the beginning of its id, `none` where nothing may be. */
  readonly against?: string | undefined
  /** Called with the target before anything else happens. */
  onTarget?(target: PlannedTarget): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

export interface PlannedTarget {
  /** Without secrets. */
  readonly address: string
  /** What names it again at the command line. */
  readonly flags: readonly string[]
  readonly servers: readonly LiveServer[]
}

/** What a deployment would do. */
export interface DeployPlan extends TargetSurvey {
  readonly target: PlannedTarget
  readonly changes: readonly ReleaseChange[]
  /** What holds of changes that break callers. */
  readonly breakingChanges: 'warn' | 'forbid'
}

/** What a plan was made of. */
export interface Planning {
  readonly target: DeployTarget
  readonly deployable: Deployable
  readonly plan: DeployPlan
}

/** Says what a deployment would do; changes nothing at the target, and needs no secret. @throws as `deployProject` */
export async function planDeployment(options: PlanOptions): Promise<DeployPlan> {
  return withPlan(options, async ({ plan }) => plan)
}

/** Opens the target, makes the plan, and closes the target when some work with them is done. */
export async function withPlan<Value>(
  options: PlanOptions & { readonly isDeployment?: boolean },
  work: (planning: Planning) => Promise<Value>,
): Promise<Value> {
  const project = findProject(options.folder)
  assertTarget(options)
  const build = await startBuild(project)
  try {
    // What speaks to the target is loaded while the bundler works. A pipeline that reaches nothing hears of it before it
    // hears of anything that is wrong with its sources.
    const target = await (await import('./open-target.ts')).openTarget(options)
    try {
      return await work(await makePlan(target, build, options))
    } finally {
      await target.close()
    }
  } finally {
    await build.close()
  }
}

async function makePlan(
  target: DeployTarget,
  build: StartedBuild,
  options: PlanOptions & { readonly isDeployment?: boolean },
): Promise<Planning> {
  const report = (diagnostics: readonly Diagnostic[]) => options.onDiagnostics?.(diagnostics)
  if (options.isDeployment === true) await target.assertDeployable()
  const planned = { address: target.address, flags: target.flags, servers: await target.listServers() }
  options.onTarget?.(planned)
  const deployable = await build.finish(report)
  const survey = await target.survey(deployable)
  if (survey.id !== survey.active?.id) {
    assertActive(survey.active, options.against)
    // What is active already was loaded before it became so, and the loader takes its time to be loaded itself.
    await (await import('./assert-loads.ts')).assertLoads(deployable, report)
  }
  return { target, deployable, plan: describe(survey, { deployable, planned, options }) }
}

interface About {
  readonly deployable: Deployable
  readonly planned: PlannedTarget
  readonly options: PlanOptions
}

function describe(survey: TargetSurvey, { deployable, planned, options }: About): DeployPlan {
  const [before, after] = [survey.active?.manifest, deployable.release.manifest]
  return {
    ...survey,
    target: planned,
    changes: survey.id === survey.active?.id ? [] : compareManifests(before, after),
    breakingChanges: breakingPolicy([before, after], options.variables),
  }
}
