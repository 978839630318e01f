// What commands of plugins import from `waypost/cli`.
import path from 'node:path'
import { WaypostCommand } from './base-command.ts'

export * as Args from '@oclif/core/args'
export * as Flags from '@oclif/core/flags'

/**
 * The base of commands of plugins. A command parses its flags, and prints results with `print` and everything else with
 * `note`. With `static enableJsonFlag = true` it accepts `--json`, which prints the value that `run` returns.
 *
 * An error that `run` throws is printed without its stack, and the exit code is 1. With wrong flags it is 2.
 */
export abstract class Command extends WaypostCommand {
  /** The folder of the project, with `waypost.yml`. */
  protected readonly project: string = path.resolve('.')
}
