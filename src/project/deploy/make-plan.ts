import path from 'node:path'
import { type Diagnostic, type Variables, hasErrors, variable } from '../../kit/index.ts'
import {
  assertActive,
  artifactLoader,
  findFileVersion,
  type DefinitionFile,
  type LiveServer,
  type ReleaseChange,
} from '../../release/index.ts'
import { findProject } from '../find-project.ts'
import { startBuild, type StartedBuild } from './start-build.ts'
import type { DeploymentSurvey, ReleaseFacts } from '../../operate/index.ts'
import type { Deployable, DeployTarget } from './target.ts'
import { listOverwritten, type Definition, type OverwrittenPlace } from '../../definition/index.ts'
import { checkModules } from '../../build/index.ts'
import { diagnoseActions } from '../../host/index.ts'
import { errors } from '../errors.ts'
import { countErrors } from '../load-project.ts'
import { existsSync } from 'node:fs'
import type { TargetOptions } from './open-target.ts'

export interface PlanOptions {
  readonly folder: string
  readonly variables: Variables
  /** The URL of a running server; by default System from the environment. */
  readonly url?: string | undefined
  /** The URL of a server whose active release is copied; by default the project of the folder is built. */
  readonly from?: string | undefined
  /** Continue only if the id of the active release begins with this text; `none` if no release must be active. */
  readonly against?: string | undefined
  /** The Git commit of the project; by default it is read from the pipeline or from Git. */
  readonly commit?: string | undefined
  /** Called with why the commit of a project in a repository is unknown. */
  onUnknownCommit?(reason: string): void
  /** Called with the target first. */
  onTarget?(target: TargetFacts): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

export interface TargetFacts {
  /** Without secrets. */
  readonly address: string
  /** The command-line flags that select this target. */
  readonly flags: readonly string[]
  readonly servers: readonly LiveServer[]
}

/** What a deployment would change. */
export interface DeployPlan extends DeploymentSurvey {
  readonly target: TargetFacts
  /** Changes that were made in the backend since the last deployment from a folder, and that the project does not have. */
  readonly overwritten: readonly OverwrittenPlace[]
  /** How to keep or undo them; undefined if there are none. */
  readonly overwriteHint: string | undefined
}

/** The inputs of a plan. */
export interface DeploymentContext {
  readonly target: DeployTarget
  readonly deployable: Deployable
  readonly plan: DeployPlan
  report(diagnostics: readonly Diagnostic[]): void
}

/**
 * Returns what a deployment would change. Changes nothing at the target and needs no secret.
 * @throws the errors of `deployProject`
 */
export async function planDeployment(options: PlanOptions): Promise<DeployPlan> {
  return withPlan(options, async ({ plan }) => plan)
}

/** Opens the target, makes the plan, runs `work` and closes the target. */
export async function withPlan<Value>(
  options: PlanOptions & { readonly isDeployment?: boolean },
  work: (planning: DeploymentContext) => Promise<Value>,
): Promise<Value> {
  const { from, folder, variables } = options
  const project = from === undefined ? findProject(folder) : undefined
  assertTarget(options)
  const build =
    project === undefined
      ? await (await import('./remote/copy-release.ts')).startCopy({ from: from!, folder, variables })
      : await startBuild(project, { variables, given: options.commit })
  try {
    // The client of the target is loaded while the bundler works. An unreachable target is reported before problems in
    // the sources.
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
): Promise<DeploymentContext> {
  const report = (diagnostics: readonly Diagnostic[]) => options.onDiagnostics?.(diagnostics)
  if (options.isDeployment === true) await target.assertDeployable()
  const planned = { address: target.address, flags: target.flags, servers: await target.listServers() }
  options.onTarget?.(planned)
  const deployable = await build.finish(report)
  if (deployable.commitProblem !== undefined) options.onUnknownCommit?.(deployable.commitProblem)
  const survey = await target.survey(deployable)
  if (survey.id !== survey.active?.id) {
    assertActive(survey.active, options.against)
    // The modules of the active release were already checked, and starting the check takes time.
    await assertModulesLoad(deployable, report)
    await assertActionsFit(deployable, survey, report)
  }
  const lost = survey.changedSinceGit ? await findOverwritten(target, deployable, options) : noneOverwritten
  const changes = survey.changes.map((one) => locate(one, deployable.definition))
  // A copy of a release that was edited on a server stays one: there is nothing to record.
  const changedSinceGit = survey.changedSinceGit && deployable.kind === 'deploy'
  return { target, deployable, report, plan: { ...survey, changes, changedSinceGit, target: planned, ...lost } }
}

type Overwritten = Pick<DeployPlan, 'overwritten' | 'overwriteHint'>

const noneOverwritten: Overwritten = { overwritten: [], overwriteHint: undefined }

async function findOverwritten(
  target: DeployTarget,
  { files }: Deployable,
  { from }: PlanOptions,
): Promise<Overwritten> {
  const published = await target.loadFiles('release')
  const toTexts = (some: readonly DefinitionFile[] = []) => new Map(some.map((one) => [one.path, one.content]))
  const mine = toTexts(files)
  const overwritten = listOverwritten({
    base: toTexts(published?.inGit?.files),
    theirs: toTexts(published?.files),
    mine,
  })
  if (overwritten.length === 0) return noneOverwritten
  if (from !== undefined) return { overwritten, overwriteHint: overwriteHints.copy }
  // As in `pull`: a folder that has another version unchanged has no changes of its own.
  const canPull =
    overwritten.some((place) => !place.isConflict) ||
    findFileVersion(mine, await target.listFileVersions()) !== undefined
  return { overwritten, overwriteHint: overwriteHints[canPull ? 'pull' : 'conflicts'] }
}

const overwriteHints = {
  pull: 'Run waypost pull to apply the changes of the backend to the project, or deploy with --overwrite-backend to undo these changes.',
  conflicts:
    'The project has other values for the same places. To use the values of the project, deploy with --overwrite-backend. To use those of the backend, run waypost pull --theirs.',
  copy: 'Make the same changes on the server that you copy from, or deploy with --overwrite-backend to undo them.',
}

function locate(change: ReleaseChange, { routes }: Definition): ReleaseChange {
  if (change.kind !== 'route' || change.change === 'removed') return change
  const [method, route] = change.name.split(' ')
  const found = routes.find((one) => one.path === route)?.methods.find((one) => one.method === method)
  return found === undefined ? change : { ...change, source: `${found.at.file}:${found.at.line}` }
}

/**
 * Loads each module once, in a child process.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export async function assertModulesLoad(
  { release }: Deployable,
  report: (diagnostics: readonly Diagnostic[]) => void,
): Promise<void> {
  const broken = await checkModules(release, { loader: artifactLoader })
  if (!hasErrors(broken)) return
  report(broken)
  throw errors.WP_PROJECT_BROKEN({ count: countErrors(broken) })
}

/**
 * Reports methods that would fail at the target, for example because of a column that does not exist.
 * @throws WP_PROJECT_ACTIONS after reporting the diagnostics
 */
export async function assertActionsFit(
  { definition, files }: Deployable,
  { failingActions }: Pick<ReleaseFacts, 'failingActions'>,
  report: (diagnostics: readonly Diagnostic[]) => void,
): Promise<void> {
  const diagnostics = await diagnoseActions(definition, failingActions, {
    severity: 'error',
    textOf: async (file) => files.find((one) => one.path === file)?.content,
  })
  if (diagnostics.length === 0) return
  report(diagnostics)
  const { length } = diagnostics
  throw errors.WP_PROJECT_ACTIONS({ count: length === 1 ? '1 method' : `${length} methods` })
}

const embeddedFile = path.join('.waypost', 'system.db')

/**
 * Fails fast if no target is configured.
 * @throws WP_PROJECT_NO_TARGET
 */
export function assertTarget({ folder, variables, url }: TargetOptions): void {
  if (url !== undefined || variable(variables, 'WAYPOST_SYSTEM_URL') !== undefined) return
  if (!existsSync(path.join(folder, embeddedFile))) throw errors.WP_PROJECT_NO_TARGET()
}
