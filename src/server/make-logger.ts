import pino from 'pino'
import { resolveStack } from '../runtime/index.ts'

/** Structured lines on stdout, or on stderr; stacks name the project's files. */
export function makeLogger(level: string, file: 'stdout' | 'stderr' = 'stdout'): pino.Logger {
  const options: pino.LoggerOptions = {
    level,
    redact: ['req.headers.authorization'],
    serializers: {
      err(error: Error) {
        const written = pino.stdSerializers.err(error)
        return { ...written, stack: resolveStack(written.stack) }
      },
    },
  }
  return file === 'stdout' ? pino(options) : pino(options, pino.destination({ dest: 2, sync: true }))
}
