import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Action } from '../contract/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { makeRequestCheck, type CheckSources } from './check-request.ts'
import { findConflict } from './conflicts.ts'
import { withTimeout } from './limits.ts'
import { ActionFailure } from './problem.ts'
import { discardResult } from './raw-body.ts'
import { RequestScope } from './request-scope.ts'
import type { RunningActions } from './running-actions.ts'
import { makeSender, type Sending, type SendPrepared, type SendSources } from './send-result.ts'
import type { Tracing } from './tracing.ts'

export interface MethodToMount extends Sending {
  readonly action: Action
  readonly running: RunningActions
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
  const { method } = mounting
  const check = makeRequestCheck(sources, method)
  const sender = makeSender(sources, mounting)
  const run = makeRunner(mounting, sources.manifest.schemas)
  const { timeoutMs } = method
  const transaction = 'class' in method.action ? method.action.plan?.transaction : undefined

  return (request, reply) => {
    const { params, query, body } = check(request)
    request.body = undefined // otherwise it stays in memory until the response is read
    const given = { method: request.method, url: request.url, params, query, body, headers: request.headers }
    const scope = new RequestScope(request, reply)
    const context = makeActionContext(sources, scope)
    const fail = (error: unknown) => void reply.send(error)
    const succeed = (result: unknown) => {
      try {
        if (transaction === undefined) sender.send({ result, context, reply })?.catch(fail)
        else (result as SendPrepared)()?.catch(fail)
      } catch (error) {
        fail(error)
      }
    }
    const around =
      transaction === undefined
        ? undefined
        : (handle: () => unknown) =>
            context.transaction(transaction as never, async () =>
              sender.prepare({ result: await handle(), context, reply }),
            )
    if (timeoutMs === undefined) return run(given, context, { around, succeed, fail })
    const work = new Promise((resolve, reject) => run(given, context, { around, succeed: resolve, fail: reject }))
    withTimeout(work, { timeoutMs, aborting: scope, discard: discardResult }).then(succeed, fail)
  }
}

type HandleArguments = Parameters<Action['handle']>

interface Execution {
  /** Runs the action as part of other work, whose result replaces that of the action. */
  readonly around: ((handle: () => unknown) => Promise<unknown>) | undefined
  succeed(result: unknown): void
  fail(error: unknown): void
}

/** Makes a function that runs an action, counts it while it runs, and reports its outcome. */
function makeRunner({ action, method, running, tracing }: MethodToMount, schemas: NamedSchemas) {
  const name = 'file' in method.action ? method.action.file : method.action.class
  const handle: Action['handle'] =
    tracing === undefined
      ? (request, context) => action.handle(request, context)
      : (request, context) => tracing.action(name, () => action.handle(request, context))
  return (request: HandleArguments[0], context: HandleArguments[1], { around, succeed, fail }: Execution): void => {
    const ended = (result: unknown) => {
      running.end()
      succeed(result)
    }
    const failed = (error: unknown) => {
      running.end()
      const { params, query, body } = request
      const parts = {
        body: [method.request, body],
        path: [method.params, params],
        query: [method.query, query],
      } as const
      fail(findConflict(error, { method: method.method, schemas, parts }) ?? ActionFailure.of(error))
    }
    running.begin()
    let result: unknown
    let isAsync: boolean
    try {
      result = around === undefined ? handle(request, context) : around(() => handle(request, context))
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
