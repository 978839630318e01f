import type { FastifyReply, FastifyRequest } from 'fastify'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { makeRequestCheck, type CheckSources } from './check-request.ts'
import { removeCodings } from './compression.ts'
import { withTimeout } from './limits.ts'
import { discardResult } from './raw-body.ts'
import { RequestScope } from './request-scope.ts'
import {
  makeRunner,
  makeSurrounder,
  noSurroundings,
  type Execution,
  type MethodToRun,
  type Surroundings,
} from './run-method.ts'
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

export type MethodToMount = Sending & MethodToRun

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
  const surround = makeSurrounder(mounting)
  const { timeoutMs } = method
  const negotiate = makeNegotiation(method)
  const isStream = makeStreamTest(method)
  const isCompressed = sources.compression && method.compression !== false

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
    const surroundings =
      surround?.({
        request: given,
        context,
        scope,
        reply,
        prepare: (result) => sender.prepare({ result, context, reply }),
      }) ?? noSurroundings
    const execution = new Sent(sender, { context, reply }, surroundings)
    if (timeoutMs === undefined) return run(given, context, execution)
    const work = new Promise((resolve, reject) =>
      run(given, context, { ...surroundings, succeed: resolve, fail: reject }),
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
