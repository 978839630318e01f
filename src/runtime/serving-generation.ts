import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from './connections.ts'
import type { Generation } from './generation.ts'

/** A generation with its requests in flight. It closes after it has been retired and has none. */
export class ServingGeneration {
  readonly #generation: Generation
  readonly #closed: PromiseWithResolvers<void> = Promise.withResolvers()
  #inFlight = 0
  #isRetired = false

  constructor(generation: Generation) {
    this.#generation = generation
  }

  respond(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    this.#inFlight += 1
    caller.servedBy = this
    this.#generation.handle(request, response)
  }

  /** Called after each response. */
  leave(): void {
    this.#inFlight -= 1
    this.#closeWhenIdle()
  }

  /** Gets no more requests from now on. Resolves when the generation has closed. */
  retire(): Promise<void> {
    if (!this.#isRetired) {
      this.#isRetired = true
      this.#generation.routes?.endStreams()
      this.#closeWhenIdle()
    }
    return this.#closed.promise
  }

  #closeWhenIdle(): void {
    if (!this.#isRetired || this.#inFlight > 0) return
    void this.#generation.close().then(this.#closed.resolve, this.#closed.resolve)
  }
}
