import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log, Principal } from '../contract/index.ts'
import type { ConditionalRequest } from './conditions.ts'
import { LeanResponse } from './lean-messages.ts'
import { RequestLog } from './request-log.ts'

/** The request-specific part of a context. The signal is created on first use, because few actions use it. */
export class RequestScope {
  readonly accepts: string | undefined
  readonly #request: FastifyRequest
  readonly #response: FastifyReply['raw']
  #controller: AbortController | undefined
  #log: Log | undefined
  #isAborted = false

  /** @param accepts the declared media type that the caller prefers */
  constructor(request: FastifyRequest, reply: FastifyReply, accepts: string | undefined) {
    this.accepts = accepts
    this.#request = request
    this.#response = reply.raw
  }

  get principal(): Principal | undefined {
    return this.#request.principal
  }

  get conditions(): ConditionalRequest {
    return this.#request
  }

  get closeLater(): (stream: Readable) => void {
    const response = this.#response
    return (stream) => {
      if (response.closed) stream.destroy()
      else response.once('close', () => stream.destroy())
    }
  }

  get log(): Log {
    const { log } = this.#request
    this.#log ??= log instanceof RequestLog ? log.forAction() : log
    return this.#log
  }

  /** Aborts when the caller disconnects, when the server ends its stream to shut down, or when `abort` is called. */
  get signal(): AbortSignal {
    this.#controller ??= this.#open()
    return this.#controller.signal
  }

  /** Whether the caller got a response because the time limit of the method expired. */
  get hasTimedOut(): boolean {
    return this.#isAborted
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }

  #open(): AbortController {
    const controller = new AbortController()
    const response = this.#response
    const isStopping = () => response instanceof LeanResponse && response.isStopping
    const leave = () => {
      if (!response.writableFinished || isStopping()) controller.abort()
    }
    const stop = () => controller.abort()
    if (this.#isAborted || isStopping()) controller.abort()
    else if (response.closed) leave()
    else response.once('close', leave).once('stopping', stop)
    return controller
  }
}
