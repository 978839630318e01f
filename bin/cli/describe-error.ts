import { isWaypostError, messageOf, type WaypostError } from '../../src/kit/index.ts'
import { describeUsage } from './describe-usage.ts'
import { errors } from './errors.ts'

const usage = new Set(['WP_CLI_COMMAND_UNKNOWN', 'WP_CLI_FLAG_UNKNOWN', 'WP_CLI_USAGE'])

/** The error that people see for whatever a command threw. */
export function describeError(thrown: unknown, command: string): WaypostError {
  if (isWaypostError(thrown)) return thrown
  // Commands of plugins that are not made of Waypost's base command throw what oclif's parser threw.
  if (isParseError(thrown)) return describeUsage(thrown, command)
  return errors.WP_CLI_UNEXPECTED({ problem: messageOf(thrown) }, { cause: thrown })
}

/** 2 for wrong usage, 1 for work that failed. */
export function exitCodeOf(error: WaypostError): 1 | 2 {
  return usage.has(error.code) ? 2 : 1
}

function isParseError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'parse' in thrown
}
