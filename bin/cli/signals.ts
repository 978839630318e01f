/** Exit codes after a signal: 128 and its number, as a shell says it. */
const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
const names = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** Exit code of a command that was interrupted. */
export const interrupted = codes.SIGINT

/** The signals that ask a command to stop. They end it at once, unless it asked to be told. */
export class Signals {
  #controller: AbortController | undefined

  /** Aborts at the first signal. A second SIGINT ends the process at once; a second of another kind changes nothing. */
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
    if (!this.#controller.signal.aborted) this.#controller.abort(new Error(`stopped by ${name}`))
    else if (name === 'SIGINT') process.exit(interrupted)
  }
}
