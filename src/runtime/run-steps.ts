import { performance } from 'node:perf_hooks'
import type { Log, Request, RouteStep } from '../contract/index.ts'
import { withDeadline } from '../kit/index.ts'
import type { ActionContext } from './action-context.ts'
import { ActionResponse } from './action-response.ts'
import { errors } from './errors.ts'
import type { RunningActions } from './running-actions.ts'
import type { Tracing } from './tracing.ts'

/** A step of a method. */
export interface MountedStep {
  readonly name: string
  /** The file or class, for logs and traces. */
  readonly place: string
  readonly step: RouteStep
}

/** The response of a request, or what stands for it in a call within this process. */
export interface StepReply {
  readonly statusCode: number
  readonly raw: { readonly closed: boolean; once(event: 'close', ended: () => void): unknown }
  readonly request: { readonly log: Pick<Log, 'error'> }
}

export interface StepRun {
  readonly request: Request
  readonly context: ActionContext
  readonly scope: { readonly hasTimedOut: boolean }
  readonly reply: StepReply
  readonly running: RunningActions
  readonly tracing: Tracing | undefined
}

/** How long the work of a step after the response may take. */
const afterMs = 10_000

/**
 * Runs the steps of a method in their order.
 * @returns the response with which a step ended the request; undefined if the action follows
 */
export async function runSteps(steps: readonly MountedStep[], run: StepRun): Promise<ActionResponse | undefined> {
  const { request, context, scope, reply, tracing } = run
  const begun: MountedStep[] = []
  const start = performance.now()
  const response = reply.raw
  const finish = () => runAfter(begun, run, performance.now() - start)
  if (response.closed) finish()
  else response.once('close', finish)
  for (const one of steps) {
    begun.push(one)
    const handle = async () => one.step.handle(request, context)
    const value = await (tracing === undefined ? handle() : tracing.action(one.place, handle))
    if (value instanceof ActionResponse) {
      context.isEndedByStep = true
      return value
    }
    // The caller has a response, so nothing that follows may begin.
    if (scope.hasTimedOut) throw errors.WP_RUNTIME_STEP_LATE({ step: one.name })
    context.setState(one.name, value)
  }
  return undefined
}

/** Calls `after` of the steps that began, the last one first. None of them can change the response. */
function runAfter(begun: readonly MountedStep[], { request, context, reply, running }: StepRun, ms: number): void {
  const outcome = { status: reply.statusCode, ms }
  context.close()
  for (const { name, place, step } of begun.toReversed()) {
    if (step.after === undefined) continue
    running.begin()
    const work = (async () => step.after!(request, context, outcome))()
    const late = () => {
      throw errors.WP_RUNTIME_STEP_AFTER({ step: name, seconds: afterMs / 1000 })
    }
    withDeadline(work, afterMs, late)
      .catch((error: unknown) =>
        reply.request.log.error({ err: error, step: place }, 'a step failed after the response'),
      )
      .finally(() => running.end())
  }
}
