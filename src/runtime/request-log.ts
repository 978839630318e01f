import type { FastifyBaseLogger } from 'fastify'

/** The log of one request. Few write anything, so that the logger that adds the request's id is made at the first line. */
export class RequestLog {
  readonly #parent: FastifyBaseLogger
  readonly #request: { readonly id: string }
  #child: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, request: { readonly id: string }) {
    this.#parent = parent
    this.#request = request
  }

  get level(): string {
    return this.#parent.level
  }

  get #own(): FastifyBaseLogger {
    this.#child ??= this.#parent.child({ reqId: this.#request.id })
    return this.#child
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
