import { Command } from '@oclif/core/command'
import type * as Interfaces from '@oclif/core/interfaces'
import { boolean } from '@oclif/core/flags'
import { describeError, exitCodeOf, noticeLostReader, errorJson } from './report-error.ts'
import { describeUsage } from './describe-usage.ts'
import { errors } from './errors.ts'
import { Signals } from './signals.ts'

const group = 'GLOBAL'

/**
 * What every command is made of. A command parses its flags, calls one function of a composition root and prints:
 * results by `print`, everything else by `note`. With `static enableJsonFlag = true` it takes `--json` and returns from
 * `run` what is printed then.
 *
 * Whatever it throws is reported by the launcher: exit code 1, or 2 for wrong usage.
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

  /** Prints what is no result, for example progress, to stderr. */
  protected note(text = ''): void {
    process.stderr.write(`${text}\n`)
  }

  /** Whether somebody is there to answer a question. */
  protected isInteractive(): boolean {
    return [process.stdin, process.stderr].every((stream) => stream.isTTY) && !this.jsonEnabled()
  }

  /**
   * Aborts at the first SIGINT, SIGTERM or SIGHUP, so that the work can end in order; a second SIGINT ends the process
   * at once. Who never asks is ended by the first. After a SIGINT the exit code is 130.
   */
  protected stopSignal(): AbortSignal {
    return this.#signals.stop()
  }

  /** What to throw when flags or arguments do not go together: exit code 2. */
  protected wrongUsage(problem: string): Error {
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
    noticeLostReader()
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

/** Whether a command ended itself by `this.exit(code)`, which oclif does by throwing. */
function isExit(thrown: Error): boolean {
  return 'code' in thrown && thrown.code === 'EEXIT'
}
