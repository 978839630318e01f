import { systemClock, type Variables } from '../../kit/index.ts'
import {
  assertActive,
  awaitServers,
  compareManifests,
  type Activation,
  type ReleaseChange,
  type RollbackSurvey,
  type ServerOutcome,
} from '../../release/index.ts'
import type { PlannedTarget } from './make-plan.ts'
import { openTarget } from './open-target.ts'

export interface RollbackOptions {
  readonly folder: string
  readonly variables: Variables
  /** The address of a running server; without it System, as the environment names it. */
  readonly url?: string | undefined
  /** The beginning of a release's id; without it the release that was active before. */
  readonly release?: string | undefined
  readonly by: string
  readonly message?: string | undefined
  /** Only if this release is the active one; the beginning of its id. */
  readonly against?: string | undefined
  /** How long to wait for every living server to serve the release. */
  readonly waitMs: number
  /** Asked when that wait begins, for what ends it. */
  waitSignal?(): AbortSignal
  /** Called with the target before anything else happens. */
  onTarget?(target: PlannedTarget): void
  /** Called with what would change before anything does; not where nothing would. @returns whether to go on */
  confirm?(plan: RollbackPlan): Promise<boolean>
  onActivated?(activation: Activation): void
}

/** What going back would change. */
export interface RollbackPlan extends RollbackSurvey {
  readonly target: PlannedTarget
  readonly changes: readonly ReleaseChange[]
}

export interface Rollback extends RollbackPlan {
  readonly activated: boolean
  readonly servers: readonly ServerOutcome[]
}

/**
 * Makes a release that was active before the active one of the target again. Nothing that migrations did is undone.
 * @returns undefined when it was not confirmed
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS, WP_RELEASE_NO_PREVIOUS, WP_RELEASE_CORRUPT, WP_RELEASE_BREAKING,
 * WP_RELEASE_MIGRATIONS, WP_RELEASE_SERVERS_OLDER, WP_RELEASE_SUPERSEDED
 */
export async function rollBackTarget(options: RollbackOptions): Promise<Rollback | undefined> {
  const target = await openTarget(options)
  try {
    const planned = { address: target.address, flags: target.flags, servers: await target.listServers() }
    options.onTarget?.(planned)
    const survey = await target.surveyRollback(options.release)
    const isChange = survey.id !== survey.active?.id
    if (isChange) assertActive(survey.active, options.against)
    const plan = { ...survey, target: planned, changes: compareManifests(survey.active?.manifest, survey.manifest) }
    if (isChange && options.confirm !== undefined && !(await options.confirm(plan))) return undefined
    const { by, message } = options
    const activation = await target.rollBack(survey.id, { by, message, against: survey.active?.id ?? 'none' })
    options.onActivated?.(activation)
    const servers = await awaitServers({
      release: survey.id,
      limitMs: options.waitMs,
      clock: systemClock,
      signal: options.waitSignal?.(),
      list: () => target.listServers(),
    })
    return { ...plan, ...activation, servers }
  } finally {
    await target.close()
  }
}
