import type { Action } from '../contract/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import type { ActionContext } from './action-context.ts'
import { findConflict } from './conflicts.ts'
import { ActionFailure } from './problem.ts'
import type { RunningActions } from './running-actions.ts'
import { runSteps, type MountedStep, type StepRun } from './run-steps.ts'
import type { Tracing } from './tracing.ts'

/** A method with its code. */
export interface MethodToRun {
  readonly method: ManifestMethod
  readonly action: Action
  readonly steps: readonly MountedStep[]
  readonly running: RunningActions
  readonly tracing?: Tracing | undefined
}

type HandleArguments = Parameters<Action['handle']>

export interface Execution extends Surroundings {
  succeed(result: unknown): void
  fail(error: unknown): void
}

export interface Surroundings {
  /** Runs the action as part of other work, whose result replaces that of the action. */
  readonly around: ((handle: () => unknown) => Promise<unknown>) | undefined
  /** Runs the steps. Returns the result if one of them ended the request. */
  readonly before: (() => Promise<{ readonly result: unknown } | undefined>) | undefined
}

/** One request of a method. */
interface Run extends Pick<StepRun, 'request' | 'context' | 'scope' | 'reply'> {
  readonly context: ActionContext
  /** Checks a result and dispatches its event, within the transaction of the action. */
  prepare(result: unknown): unknown
}

/**
 * Makes the function that surrounds an action with the steps before it and the transaction that its plan names; undefined
 * if there are none.
 */
export function makeSurrounder({
  method,
  steps,
  running,
  tracing,
}: MethodToRun): ((run: Run) => Surroundings) | undefined {
  const transaction = 'class' in method.action ? method.action.plan?.transaction : undefined
  if (transaction === undefined && steps.length === 0) return undefined
  const beforeOf = (run: Run): Surroundings['before'] => {
    if (steps.length === 0) return undefined
    return async () => {
      const result = await runSteps(steps, { ...run, running, tracing })
      // Steps run outside of the transaction.
      return result && { result: transaction === undefined ? result : run.prepare(result) }
    }
  }
  return (run) => {
    const around: Surroundings['around'] =
      transaction === undefined
        ? undefined
        : (handle) => run.context.transaction(transaction as never, async () => run.prepare(await handle()))
    return { around, before: beforeOf(run) }
  }
}

export const noSurroundings: Surroundings = { around: undefined, before: undefined }

/** Makes a function that runs an action, counts it while it runs, and reports its outcome. */
export function makeRunner({ action, method, running, tracing }: MethodToRun, schemas: NamedSchemas) {
  const name = 'file' in method.action ? method.action.file : method.action.class
  const handle: Action['handle'] =
    tracing === undefined
      ? (request, context) => action.handle(request, context)
      : (request, context) => tracing.action(name, () => action.handle(request, context))
  return (request: HandleArguments[0], context: HandleArguments[1], execution: Execution): void => {
    const ended = (result: unknown) => {
      running.end()
      execution.succeed(result)
    }
    const failed = (error: unknown) => {
      running.end()
      const { params, query, body } = request
      const parts = {
        body: [method.request, body],
        path: [method.params, params],
        query: [method.query, query],
      } as const
      execution.fail(findConflict(error, { method: method.method, schemas, parts }) ?? ActionFailure.of(error))
    }
    running.begin()
    let result: unknown
    let isAsync: boolean
    try {
      const { around, before } = execution
      if (before !== undefined)
        result = before().then((ended) => {
          if (ended !== undefined) return ended.result
          return around === undefined ? handle(request, context) : around(() => handle(request, context))
        })
      else result = around === undefined ? handle(request, context) : around(() => handle(request, context))
      isAsync = isThenable(result)
    } catch (error) {
      return failed(error)
    }
    if (isAsync) void Promise.resolve(result).then(ended, failed)
    else ended(result)
  }
}

/** Whether a value is a promise, or a query that runs when awaited. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
