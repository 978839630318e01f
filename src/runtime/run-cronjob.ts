import type { Action, CronjobTypes, Log } from '../contract/index.ts'
import { ActionResponse, makeActionContext, type ContextSources } from './action-context.ts'
import { ActionProblem } from './problem.ts'
import { discardResult } from './raw-body.ts'

/** One run of a cronjob. */
export interface CronjobRun {
  readonly params: CronjobTypes['params']
  readonly log: Log
  /** An action that ends after it was aborted has failed, however it ends. */
  readonly signal: AbortSignal
}

/**
 * Calls the action of a cronjob, without a principal. What it returns is dropped; what it dispatched is stored when it
 * succeeded.
 *
 * @throws what the action throws, or the problem that it answered with
 */
export async function runCronjob(action: Action, sources: ContextSources, run: CronjobRun): Promise<void> {
  const { params, log, signal } = run
  const context = makeActionContext(sources, { principal: undefined, log, signal })
  const request = { method: 'CRON', url: `cronjob:${params.cronjob}`, params, query: {}, body: undefined, headers: {} }
  const result: unknown = await action.handle(request, context)
  discardResult(result)
  signal.throwIfAborted()
  if (result instanceof ActionResponse && result.status >= 400) {
    throw new ActionProblem(result.status, `The action returned status ${result.status}`)
  }
  if (context.hasDispatched) await context.storeDispatched()
}
