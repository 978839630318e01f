import { addAbortListener } from 'node:events'
import type { Readable } from 'node:stream'
import type { Log, Principal, Request } from '../../contract/index.ts'
import type { ConditionalRequest } from '../conditions.ts'
import { errors } from '../errors.ts'
import type { RequestSources } from '../request-sources.ts'
import type { MethodCall } from './method-call.ts'

export interface CallScopeOptions {
  readonly request: Request
  readonly accepts: string
  readonly timeoutMs: number | undefined
}

/** The part of a context that belongs to one call of a method within this process. */
export class CallScope implements RequestSources {
  readonly principal: Principal | undefined
  readonly log: Log
  readonly depth: number
  readonly accepts: string
  readonly signal: AbortSignal
  readonly conditions: ConditionalRequest
  readonly closeLater: RequestSources['closeLater']
  readonly #timeoutMs: number | undefined
  readonly #timer: NodeJS.Timeout | undefined
  /** Whether the time limit of the method has passed. */
  hasTimedOut = false

  constructor({ principal, parent, depth }: MethodCall, { request, accepts, timeoutMs }: CallScopeOptions) {
    this.principal = principal
    this.log = parent.log
    this.depth = depth
    this.accepts = accepts
    this.conditions = request
    this.closeLater = parent.closeLater ?? ((stream) => closeOnAbort(stream, parent.signal))
    this.#timeoutMs = timeoutMs
    if (timeoutMs === undefined) {
      this.signal = parent.signal
      return
    }
    const controller = new AbortController()
    this.signal = AbortSignal.any([parent.signal, controller.signal])
    this.#timer = setTimeout(() => {
      this.hasTimedOut = true
      controller.abort()
    }, timeoutMs)
  }

  /**
   * A call ends with its action, not before: what the action still does would be part of the transaction around it.
   * @throws WP_RUNTIME_TIMEOUT
   */
  assertInTime(): void {
    if (this.hasTimedOut)
      throw errors.WP_RUNTIME_TIMEOUT({ seconds: this.#timeoutMs! / 1000 }, { retryAfterSeconds: 1 })
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

/** Closes a stream that is open when the work for which it was made ends, also if that has ended already. */
function closeOnAbort(stream: Readable, signal: AbortSignal): void {
  const listening = addAbortListener(signal, () => stream.destroy())
  stream.once('close', () => listening[Symbol.dispose]())
}
