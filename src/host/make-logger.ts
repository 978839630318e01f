import pino from 'pino'
import { isWaypostError } from '../kit/index.ts'
import { resolveStack } from '../release/index.ts'
import { openLogOutput } from './log-output.ts'
import { makeRedactor } from './redact-line.ts'

export interface LoggerOptions {
  readonly file?: 'stdout' | 'stderr'
  /** Values that are redacted in every line. The set may grow later. */
  readonly secrets?: ReadonlySet<string>
  /** Returns additional fields of each line. */
  readonly fields?: (() => object) | undefined
}

/**
 * Makes a logger that writes structured lines to stdout or stderr and never waits for them, redacts secrets, and resolves stacks to the
 * project's files.
 */
export function makeLogger(
  level: string,
  { file = 'stdout', secrets = new Set(), fields }: LoggerOptions = {},
): pino.Logger {
  const options: pino.LoggerOptions = {
    level,
    ...(fields === undefined ? {} : { mixin: fields }),
    serializers: { err: describeError },
    hooks: { streamWrite: makeRedactor(secrets) },
  }
  return pino(options, openLogOutput(file))
}

/** User and external errors are logged without a stack, which is only useful for bugs. */
function describeError(error: unknown): object {
  if (isWaypostError(error) && error.kind !== 'bug') {
    const { code, message, hint } = error
    return { type: error.name, code, message, ...(hint === undefined ? {} : { hint }) }
  }
  if (!(error instanceof Error)) return { message: String(error) }
  const written = pino.stdSerializers.err(error)
  return { ...written, stack: resolveStack(written.stack) }
}
