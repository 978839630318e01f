import type pino from 'pino'
import { ErrorDescription, safeMessageOf } from '../kit/index.ts'
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
export async function makeLogger(
  level: string,
  { file = 'stdout', secrets = new Set(), fields }: LoggerOptions = {},
): Promise<pino.Logger> {
  const { default: makePino } = await import('pino') // most commands log nothing
  const options: pino.LoggerOptions = {
    level,
    ...(fields === undefined ? {} : { mixin: fields }),
    serializers: errorSerializers,
    hooks: { streamWrite: makeRedactor(secrets), logMethod: logSafely },
  }
  return makePino(options, openLogOutput(file))
}

/**
 * Describes the errors of log lines. This includes errors that are logged as `error`: pino would write all of their fields.
 */
export const errorSerializers = {
  err: describeError,
  error: (error: unknown) => (error instanceof Error ? describeError(error) : error),
}

/** Logs an error without a text with its safe message: pino would use the message itself. */
export const logSafely: NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']> = function (args, method) {
  const [subject, ...given] = args as unknown[]
  const texts = given.map((value) => (value instanceof Error ? safeMessageOf(value) : value))
  const fields = (subject instanceof Error ? { err: subject } : subject) as { err?: unknown; msg?: unknown } | undefined
  const isUnnamed = fields?.err instanceof Error && texts[0] === undefined && fields.msg === undefined
  const safe = [fields, ...(isUnnamed ? [safeMessageOf(fields.err)] : texts)]
  method.apply(this, safe as Parameters<typeof method>)
}

function describeError(error: unknown): object {
  return error instanceof ErrorDescription ? error : new ErrorDescription(error, { stackOf: resolveStack })
}
