/** Exit codes after a signal: 128 plus its number, as in shells. */
const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
const names = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** Exit code of an interrupted command. */
export const interrupted = codes.SIGINT
/** Exit code of a command that was stopped before its end. */
export const terminated = codes.SIGTERM

const duplicateMs = 1000

/** Handles the signals that stop a command. By default they end it at once. */
export class Signals {
  #controller: AbortController | undefined
  #stoppedAt = 0

  /**
   * Returns a signal that aborts on the first process signal. A second one ends the process immediately. Parent
   * processes often forward their signals, so a SIGTERM or SIGHUP within a second counts as the same.
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
    } else if (name === 'SIGINT' || performance.now() - this.#stoppedAt > duplicateMs) process.exit(codes[name])
  }
}
