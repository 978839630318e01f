import path from 'node:path'
import {
  type Diagnostic,
  type Variables,
  hasErrors,
  variable,
  parseSettings,
  resolveReferences,
} from '../../kit/index.ts'
import {
  assertActive,
  compareManifests,
  type LiveServer,
  type ReleaseChange,
  artifactLoader,
  type Manifest,
} from '../../release/index.ts'
import { findProject } from '../find-project.ts'
import { startBuild, type StartedBuild } from './start-build.ts'
import type { Deployable, DeployTarget, TargetSurvey } from './target.ts'
import { checkModules } from '../../build/index.ts'
import { errors } from '../errors.ts'
import { existsSync } from 'node:fs'
import type { TargetOptions } from './open-target.ts'

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
    await assertLoads(deployable, report)
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

/** Loads each module once, in a process of its own. @throws WP_PROJECT_BROKEN after the diagnostics were reported */
export async function assertLoads(
  { release }: Deployable,
  report: (diagnostics: readonly Diagnostic[]) => void,
): Promise<void> {
  const broken = await checkModules(release, { loader: artifactLoader })
  if (!hasErrors(broken)) return
  report(broken)
  throw errors.WP_PROJECT_BROKEN({ count: broken.length === 1 ? '1 error' : `${broken.length} errors` })
}

const embeddedFile = path.join('.waypost', 'system.db')

/** Nothing is looked for longer than it takes to see that there is none. @throws WP_PROJECT_NO_TARGET */
export function assertTarget({ folder, variables, url }: TargetOptions): void {
  if (url !== undefined || variable(variables, 'WAYPOST_SYSTEM_URL') !== undefined) return
  if (!existsSync(path.join(folder, embeddedFile))) throw errors.WP_PROJECT_NO_TARGET()
}

/**
 * What holds of changes that break callers: `forbid` where the active release or the one to come says so, so that no
 * release lifts it for itself. A variable that is not set here leaves it forbidden.
 */
export function breakingPolicy(manifests: readonly (Manifest | undefined)[], variables: Variables): 'warn' | 'forbid' {
  const said = manifests.flatMap((manifest) =>
    manifest?.config['breaking_changes'] === undefined
      ? []
      : [{ breaking_changes: manifest.config['breaking_changes'] }],
  )
  const isForbidden = said.some((config) => {
    const { value, missing } = resolveReferences(config, variables)
    const { settings, problems } = parseSettings(value)
    return missing.length > 0 || problems.length > 0 || settings.breaking_changes === 'forbid'
  })
  return isForbidden ? 'forbid' : 'warn'
}
