import type { Action, CronjobTypes, Log } from '../contract/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { ActionResponse } from './action-response.ts'
import { ActionProblem } from './problem.ts'
import { discardResult } from './raw-body.ts'

/** One run of a cronjob. */
export interface CronjobRun {
  readonly params: CronjobTypes['params']
  readonly log: Log
  /** If the signal was aborted, the run has failed, even if the action returns. */
  readonly signal: AbortSignal
}

/**
 * Runs the action of a cronjob without a principal. Its result is discarded; dispatched messages are stored if it
 * succeeds.
 * @throws any error of the action, or the problem that it returned
 */
export async function runCronjob(action: Action, sources: ContextSources, run: CronjobRun): Promise<void> {
  const { params, log, signal } = run
  const context = makeActionContext(sources, { principal: undefined, log, signal })
  const none = { query: {}, body: undefined, headers: {} }
  const request = { method: 'CRON', url: `cronjob:${params.cronjob}`, params, ...none }
  const result: unknown = await action.handle(request, context)
  discardResult(result)
  signal.throwIfAborted()
  if (result instanceof ActionResponse && result.status >= 400) {
    throw new ActionProblem(result.status, `The action returned status ${result.status}`)
  }
  if (context.hasDispatched) await context.storeDispatched()
}
