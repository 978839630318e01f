import pino from 'pino'
import { isWaypostError } from '../kit/index.ts'
import { resolveStack } from '../release/index.ts'
import { makeRedactor } from './redact-line.ts'

export interface LoggerOptions {
  readonly file?: 'stdout' | 'stderr'
  /** Values that no line may hold, whoever wrote it; more may come. */
  readonly secrets?: ReadonlySet<string>
  /** More fields of each line. */
  readonly fields?: (() => object) | undefined
}

/** Structured lines on stdout, or on stderr; stacks name the project's files, and secrets are left out. */
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
  return file === 'stdout' ? pino(options) : pino(options, pino.destination({ dest: 2, sync: true }))
}

/** Of another system that failed, or of something to set right, the words are enough; a stack is for mistakes in code. */
function describeError(error: unknown): object {
  if (isWaypostError(error) && error.kind !== 'bug') {
    const { code, message, hint } = error
    return { type: error.name, code, message, ...(hint === undefined ? {} : { hint }) }
  }
  if (!(error instanceof Error)) return { message: String(error) }
  const written = pino.stdSerializers.err(error)
  return { ...written, stack: resolveStack(written.stack) }
}
