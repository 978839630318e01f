import { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { isProbeAgent } from '../kit/index.ts'
import type { Dropped } from './send-result.ts'

/** One answered request, for the console. */
export interface Answered {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
  readonly user: string | undefined
  /** Why it was refused, in a few words. */
  readonly reason: string | undefined
  /** What the action returned beyond its schema, which was dropped; only where results are checked. */
  readonly dropped: Dropped | undefined
  /** What ended an answer before all of it was sent: a stream that failed, or a caller who left. */
  readonly cut?: 'failed' | 'left' | undefined
}

/** Calls back for each request whose answer is over, also one that broke off in the middle; not for Waypost's own. */
export function reportAnswers(app: FastifyInstance, report: (answered: Answered) => void): void {
  const say = (request: FastifyRequest, reply: FastifyReply, cut?: Answered['cut']) => {
    if (isProbeAgent(request.headers['user-agent']) && reply.statusCode < 500) return
    report({
      id: request.id,
      method: request.method,
      path: request.url,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      user: request.principal?.user.name,
      reason: request.reason,
      dropped: request.dropped,
      cut,
    })
  }
  app.addHook('onResponse', async (request, reply) => say(request, reply))
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify calls no hook for an answer that breaks off.
    reply.raw.once('close', () => {
      const { headersSent, writableFinished, errored } = reply.raw
      if (headersSent && !writableFinished && !errored) say(request, reply, brokenOff.has(request) ? 'failed' : 'left')
    })
    done()
  })
}

const brokenOff = new WeakSet<FastifyRequest>()

/** Of the lines that Fastify would log, only what nobody else hears of: a stream that fails when its answer has begun. */
export class StreamLog extends LogController {
  readonly #onError: ((error: unknown, request: FastifyRequest) => void) | undefined

  constructor(onError?: (error: unknown, request: FastifyRequest) => void) {
    super({ disableRequestLogging: true })
    this.#onError = onError
  }

  override streamError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (reply.raw.destroyed) return // its caller left
    brokenOff.add(request)
    this.#onError?.(error, request)
    request.log.error({ err: error }, 'response aborted')
  }
}
