import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Action } from '../contract/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { makeRequestCheck, type CheckSources } from './check-request.ts'
import { removeCodings } from './compression.ts'
import { findConflict } from './conflicts.ts'
import { withTimeout } from './limits.ts'
import { ActionFailure } from './problem.ts'
import { discardResult } from './raw-body.ts'
import { RequestScope } from './request-scope.ts'
import { runSteps, type MountedStep } from './run-steps.ts'
import { makeNegotiation } from './media/negotiate.ts'
import { makeStreamTest, reserveStream } from './media/start-stream.ts'
import {
  makeSender,
  type ActionResult,
  type Sender,
  type Sending,
  type SendPrepared,
  type SendSources,
} from './send-result.ts'
import type { Tracing } from './tracing.ts'

export interface MethodToMount extends Sending {
  readonly action: Action
  readonly steps: readonly MountedStep[]
  readonly tracing?: Tracing | undefined
}

/** Handles the requests of one method. Throws if the request is invalid; sends everything else. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Makes the handler of a method: check the request, run the action, send its result. Uses callbacks, because each async
 * function would add two promises to every request. If the plan of the action names a connection, the action, the check of
 * its result and its `dispatch:` run in one transaction.
 */
export function makeHandler(sources: ContextSources & CheckSources & SendSources, mounting: MethodToMount): Handler {
  const { method, steps, running, tracing } = mounting
  const check = makeRequestCheck(sources, method)
  const sender = makeSender(sources, mounting)
  const run = makeRunner(mounting, sources.manifest.schemas)
  const { timeoutMs } = method
  const negotiate = makeNegotiation(method)
  const isStream = makeStreamTest(method)
  const isCompressed = sources.compression && method.compression !== false
  const transaction = 'class' in method.action ? method.action.plan?.transaction : undefined

  return (request, reply) => {
    removeCodings(request, isCompressed)
    const accepts = negotiate?.(request)
    const checked = check(request)
    const isStreaming = accepts !== undefined && isStream(accepts)
    if (isStreaming) reserveStream(sources, request, reply)
    const given = isStreaming ? { ...checked, lastEventId: readLastEventId(request) } : checked
    request.body = undefined // otherwise it stays in memory until the response is read
    const scope = new RequestScope(request, reply, accepts)
    const context = makeActionContext(sources, scope)
    const around =
      transaction === undefined
        ? undefined
        : (handle: () => unknown) =>
            context.transaction(transaction as never, async () =>
              sender.prepare({ result: await handle(), context, reply }),
            )
    const before =
      steps.length === 0
        ? undefined
        : async () => {
            const result = await runSteps(steps, { request: given, context, scope, reply, running, tracing })
            // Steps run outside of the transaction.
            return result && { result: around === undefined ? result : sender.prepare({ result, context, reply }) }
          }
    const execution = new Sent(sender, { context, reply }, { around, before })
    if (timeoutMs === undefined) return run(given, context, execution)
    const work = new Promise((resolve, reject) =>
      run(given, context, { around, before, succeed: resolve, fail: reject }),
    )
    withTimeout(work, { timeoutMs, aborting: scope, discard: discardResult }).then(
      (result) => execution.succeed(result),
      (error: unknown) => execution.fail(error),
    )
  }
}

/** The id of the last event that a client has received. Browsers send its UTF-8 as bytes. */
function readLastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id']
  return id === undefined ? undefined : Buffer.from(String(id), 'latin1').toString()
}

type HandleArguments = Parameters<Action['handle']>

interface Execution extends Surroundings {
  succeed(result: unknown): void
  fail(error: unknown): void
}

interface Surroundings {
  /** Runs the action as part of other work, whose result replaces that of the action. */
  readonly around: ((handle: () => unknown) => Promise<unknown>) | undefined
  /** Runs the steps. Returns the result if one of them ended the request. */
  readonly before: (() => Promise<{ readonly result: unknown } | undefined>) | undefined
}

/** An execution whose outcome is sent. A class, because functions for each request cost more. */
class Sent implements Execution {
  readonly around: Execution['around']
  readonly before: Execution['before']
  readonly #sender: Sender
  readonly #to: Omit<ActionResult, 'result'>

  constructor(sender: Sender, to: Omit<ActionResult, 'result'>, { around, before }: Surroundings) {
    this.#sender = sender
    this.#to = to
    this.around = around
    this.before = before
  }

  succeed(result: unknown): void {
    const { context, reply } = this.#to
    try {
      const sending =
        this.around === undefined ? this.#sender.send({ result, context, reply }) : (result as SendPrepared)()
      sending?.catch((error: unknown) => this.fail(error))
    } catch (error) {
      this.fail(error)
    }
  }

  fail(error: unknown): void {
    void this.#to.reply.send(error)
  }
}

/** Makes a function that runs an action, counts it while it runs, and reports its outcome. */
function makeRunner({ action, method, running, tracing }: MethodToMount, schemas: NamedSchemas) {
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
