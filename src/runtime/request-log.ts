import type { FastifyBaseLogger } from 'fastify'
import { markActionLogger } from '../kit/index.ts'

/**
 * The log of one request. The child logger with the request's id is created on first use, because few requests log
 * anything.
 */
export class RequestLog {
  /** When the request arrived, by `performance.now()`. */
  readonly startedAt = performance.now()
  readonly #parent: FastifyBaseLogger
  readonly #request: { readonly id: string }
  readonly #isOfAction: boolean
  #child: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, request: { readonly id: string }, isActionLogger = false) {
    this.#parent = parent
    this.#request = request
    this.#isOfAction = isActionLogger
  }

  /** Returns the log for entries of the action. */
  forAction(): RequestLog {
    return new RequestLog(this.#parent, this.#request, true)
  }

  get level(): string {
    return this.#parent.level
  }

  get #own(): FastifyBaseLogger {
    this.#child ??= this.#open()
    return this.#child
  }

  #open(): FastifyBaseLogger {
    const child = this.#parent.child({ reqId: this.#request.id })
    return this.#isOfAction ? markActionLogger(child) : child
  }

  trace(...line: Line): void {
    this.#own.trace(...line)
  }
  debug(...line: Line): void {
    this.#own.debug(...line)
  }
  info(...line: Line): void {
    this.#own.info(...line)
  }
  warn(...line: Line): void {
    this.#own.warn(...line)
  }
  error(...line: Line): void {
    this.#own.error(...line)
  }
  fatal(...line: Line): void {
    this.#own.fatal(...line)
  }
  silent(): void {}
  child(bindings: object): FastifyBaseLogger {
    return this.#own.child(bindings)
  }
}

type Line = [fields: object | string, message?: string]
