import { Command } from '@oclif/core/command'
import type * as Interfaces from '@oclif/core/interfaces'
import { boolean } from '@oclif/core/flags'
import { describeError, exitCodeOf, handleClosedOutput, errorJson } from './report-error.ts'
import { describeUsage } from './describe-usage.ts'
import { errors } from './errors.ts'
import { Signals, terminated } from './signals.ts'

const group = 'GLOBAL'

/**
 * The base of all commands. A command parses its flags, calls one function of a composition root and prints: results by
 * `print`, everything else by `note`. With `static enableJsonFlag = true` it accepts `--json`, which prints the value
 * that `run` returns.
 *
 * The launcher reports errors: exit code 1, or 2 for wrong usage.
 */
export abstract class WaypostCommand extends Command {
  static override baseFlags = {
    verbose: boolean({ description: 'Print more details, including stacks of errors', helpGroup: group }),
    'no-color': boolean({ description: 'Disable colors', helpGroup: group }),
  }

  readonly #signals = new Signals()

  /** Prints a result to stdout; nothing with `--json`. */
  protected print(text = ''): void {
    if (!this.jsonEnabled()) process.stdout.write(`${text}\n`)
  }

  /** Prints other output, for example progress, to stderr. */
  protected note(text = ''): void {
    process.stderr.write(`${text}\n`)
  }

  /** Whether a user can answer questions. */
  protected isInteractive(): boolean {
    return [process.stdin, process.stderr].every((stream) => stream.isTTY) && !this.jsonEnabled()
  }

  /**
   * Returns a signal that aborts on the first SIGINT, SIGTERM or SIGHUP, so that the command can stop cleanly. A second
   * SIGINT ends the process immediately. Without a call the first signal ends it. After SIGINT the exit code is 130.
   */
  protected stopSignal(): AbortSignal {
    return this.#signals.stop()
  }

  /** Like `stopSignal`, for a command whose work is then incomplete: it exits with 143, or 130 after SIGINT. */
  protected abandonSignal(): AbortSignal {
    const signal = this.stopSignal()
    const stop = () => {
      process.exitCode ??= terminated
      this.note('  Stopping   A second signal stops immediately.')
    }
    signal.addEventListener('abort', stop, { once: true })
    return signal
  }

  /**
   * Checks that a person can be asked for the confirmation that `--yes` gives.
   * @throws WP_CLI_CONFIRM
   */
  protected assertCanConfirm(): void {
    if (!this.isInteractive()) throw errors.WP_CLI_CONFIRM()
  }

  /** Returns the error for flags or arguments that cannot be combined: exit code 2. */
  protected usageError(problem: string): Error {
    return errors.WP_CLI_USAGE({ problem, command: this.id ?? '' })
  }

  protected override async parse<
    Flags extends Record<string, unknown>,
    Base extends Record<string, unknown>,
    Args extends Record<string, unknown>,
  >(
    options?: Interfaces.Input<Flags, Base, Args>,
    argv?: string[],
  ): Promise<Interfaces.ParserOutput<Flags, Base, Args>> {
    try {
      return await super.parse(options, argv)
    } catch (thrown) {
      throw describeUsage(thrown as Error, this.id ?? '')
    }
  }

  protected override async init(): Promise<void> {
    await super.init()
    this.#signals.listen()
    handleClosedOutput()
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#signals.ignore()
    await super.finally(error)
  }

  protected override async catch(thrown: Error): Promise<void> {
    if (!this.jsonEnabled() || isExit(thrown)) throw thrown
    const error = describeError(thrown, this.id ?? '')
    this.logJson(errorJson(error))
    process.exitCode ??= exitCodeOf(error)
  }

  protected override logJson(json: unknown): void {
    process.stdout.write(`${JSON.stringify(json)}\n`)
  }
}

/** Whether a command ended through `this.exit(code)`, for which oclif throws an error. */
function isExit(thrown: Error): boolean {
  return 'code' in thrown && thrown.code === 'EEXIT'
}
