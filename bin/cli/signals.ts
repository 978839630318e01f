/** Exit codes after a signal: 128 and its number, as a shell says it. */
const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
const names = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** Exit code of a command that was interrupted. */
export const interrupted = codes.SIGINT

const sameAgainMs = 1000

/** The signals that ask a command to stop. They end it at once, unless it asked to be told. */
export class Signals {
  #controller: AbortController | undefined
  #stoppedAt = 0

  /**
   * Aborts at the first signal. A second one ends the process at once; but who starts commands often hands on what they
   * get themselves, so that of SIGTERM and SIGHUP one within a second is the same again.
   */
  stop(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  listen(): void {
    for (const name of names) process.on(name, this.#receive)
  }

  ignore(): void {
    for (const name of names) process.off(name, this.#receive)
  }

  readonly #receive = (name: keyof typeof codes): void => {
    if (name === 'SIGINT') process.exitCode = interrupted
    if (this.#controller === undefined) process.exit(codes[name])
    if (!this.#controller.signal.aborted) {
      this.#stoppedAt = performance.now()
      this.#controller.abort(new Error(`stopped by ${name}`))
    } else if (name === 'SIGINT' || performance.now() - this.#stoppedAt > sameAgainMs) process.exit(codes[name])
  }
}
