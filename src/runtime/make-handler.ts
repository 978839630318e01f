import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Action } from '../contract/index.ts'
import type { ManifestMethod, ManifestRoute } from '../release/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { makeRequestCheck, type CheckSources } from './check-request.ts'
import { findConflict } from './conflicts.ts'
import { withTimeout } from './limits.ts'
import { ActionFailure } from './problem.ts'
import { discardResult } from './raw-body.ts'
import { RequestScope } from './request-scope.ts'
import type { RunningActions } from './running-actions.ts'
import { makeSender, type SendSources } from './send-result.ts'
import type { Tracing } from './tracing.ts'

export interface MethodToMount {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
  readonly action: Action
  readonly running: RunningActions
  readonly tracing?: Tracing | undefined
}

/** Handles the requests of one method. Throws if the request is invalid; sends everything else. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Makes the handler of a method: check the request, run the action, send its result. Uses callbacks, because each async
 * function would add two promises to every request.
 */
export function makeHandler(sources: ContextSources & CheckSources & SendSources, mounting: MethodToMount): Handler {
  const { method } = mounting
  const check = makeRequestCheck(sources, method)
  const send = makeSender(sources, mounting)
  const run = makeRunner(mounting, sources.manifest.schemas)
  const { timeoutMs } = method

  return (request, reply) => {
    const { params, query, body } = check(request)
    request.body = undefined // otherwise it stays in memory until the response is read
    const given = { method: request.method, url: request.url, params, query, body, headers: request.headers }
    const scope = new RequestScope(request, reply)
    const context = makeActionContext(sources, scope)
    const fail = (error: unknown) => void reply.send(error)
    const succeed = (result: unknown) => {
      try {
        send({ result, context, reply })?.catch(fail)
      } catch (error) {
        fail(error)
      }
    }
    if (timeoutMs === undefined) return run(given, context, { succeed, fail })
    const work = new Promise((resolve, reject) => run(given, context, { succeed: resolve, fail: reject }))
    withTimeout(work, { timeoutMs, aborting: scope, discard: discardResult }).then(succeed, fail)
  }
}

type HandleArguments = Parameters<Action['handle']>

interface Outcome {
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
  return (request: HandleArguments[0], context: HandleArguments[1], { succeed, fail }: Outcome): void => {
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
      result = handle(request, context)
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
