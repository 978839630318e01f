import { systemClock, type Variables } from '../../kit/index.ts'
import { assertActive, awaitServers, type Activated, type ServerOutcome } from '../../release/index.ts'
import { activateJudged, assertAllowed, type RollbackSurvey } from '../../operate/index.ts'
import type { TargetFacts } from './make-plan.ts'
import { openTarget } from './open-target.ts'

export interface RollbackOptions {
  readonly folder: string
  readonly variables: Variables
  /** The URL of a running server; by default System from the environment. */
  readonly url?: string | undefined
  /** The beginning of a release id; by default the previously active release. */
  readonly release?: string | undefined
  readonly by: string
  readonly message?: string | undefined
  /** Continue only if the id of the active release begins with this text. */
  readonly against?: string | undefined
  /** Whether the definition files of the undone release become the draft, which must have no changes. */
  readonly keepDraft?: boolean
  /** Allow breaking changes even if they are forbidden. */
  readonly allowBreaking?: boolean
  /** Allow variables that running servers lack. */
  readonly allowMissing?: boolean
  /** How long to wait until each live server serves the release, in milliseconds. */
  readonly waitMs: number
  /** Called when the wait begins. Returns a signal that ends it. */
  waitSignal?(): AbortSignal
  /** Called with the target first. */
  onTarget?(target: TargetFacts): void
  /** Called with the plan before anything changes; not called without changes. */
  onPlan?(plan: RollbackPlan): void
  /**
   * Called before anything changes if the rollback is possible; not called without changes.
   * @returns whether to continue
   */
  confirm?(plan: RollbackPlan): Promise<boolean>
  onActivated?(activation: Activated): void
}

/** What a rollback would change. */
export interface RollbackPlan extends RollbackSurvey {
  readonly target: TargetFacts
}

export interface Rollback extends RollbackPlan {
  readonly activated: boolean
  readonly servers: readonly ServerOutcome[]
}

/**
 * Activates an earlier release of the target again. Migrations are not reverted.
 * @returns undefined if it was not confirmed
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS, WP_RELEASE_NO_PREVIOUS, WP_RELEASE_CORRUPT, WP_RELEASE_BREAKING,
 * WP_RELEASE_MIGRATIONS, WP_RELEASE_SERVERS_OLDER, WP_RELEASE_VARIABLES, WP_RELEASE_BREAKING_FORBIDDEN,
 * WP_RELEASE_SUPERSEDED, WP_RELEASE_NO_FILES, WP_BACKEND_ROLLBACK_DRAFT
 */
export async function rollBackTarget(options: RollbackOptions): Promise<Rollback | undefined> {
  const target = await openTarget(options)
  try {
    const planned = { address: target.address, flags: target.flags, servers: await target.listServers() }
    options.onTarget?.(planned)
    const survey = await target.surveyRollback(options.release)
    const isChange = survey.id !== survey.active?.id
    if (isChange) assertActive(survey.active, options.against)
    const plan = { ...survey, target: planned }
    const { by, message, allowBreaking, allowMissing, keepDraft = false } = options
    const consent = { isConfirmed: true, allowBreaking, allowMissing }
    if (isChange) {
      options.onPlan?.(plan)
      assertAllowed(plan, consent)
      if (options.confirm !== undefined && !(await options.confirm(plan))) return undefined
    }
    const activation = await activateJudged(
      { facts: plan, consent },
      { by, message, allowBreaking, allowMissing, keepDraft },
      (bound) => target.rollBack(survey.id, bound),
    )
    options.onActivated?.(activation)
    const servers = await awaitServers({
      release: survey.id,
      limitMs: options.waitMs,
      clock: systemClock,
      signal: options.waitSignal?.(),
      list: () => target.listServers(),
      loadActiveId: () => target.loadActiveId(),
    })
    return { ...plan, ...activation, servers }
  } finally {
    await target.close()
  }
}
