import pino from 'pino'
import { isActionLogger, variable } from '../kit/index.ts'
import { errorSerializers, logSafely, makeValueRedactor, readLogLevel, type Host } from '../host/index.ts'
import type { DevConsole, LoggedLine } from './dev-console.ts'

/**
 * Creates the logger of `dev`. Shows log entries of actions from level info. Waypost's own events are shown by the
 * console; setting LOG_LEVEL shows their log entries too.
 * @throws WP_SERVER_LOG_LEVEL
 */
export function makeDevLogger(
  { variables, logSecrets }: Pick<Host, 'variables' | 'logSecrets'>,
  console: Pick<DevConsole, 'logged'>,
): pino.Logger {
  const redact = makeValueRedactor(logSecrets)
  const isAllWanted = variable(variables, 'LOG_LEVEL') !== undefined
  const destination = {
    [Symbol.for('pino.metadata')]: true, // makes pino set the next two properties
    lastLogger: {},
    lastObj: undefined as { readonly err?: unknown } | undefined,
    write(line: string): void {
      const text = redact(line)
      if (isActionLogger(destination.lastLogger)) console.logged(readLine(text, destination.lastObj?.err))
      else if (isAllWanted) process.stdout.write(text)
    },
  }
  const level = readLogLevel(variables, 'info')
  return pino(
    {
      level,
      serializers: { err: errorSerializers.error, error: errorSerializers.error },
      redact: ['req.headers.authorization'],
      hooks: { logMethod: logSafely },
    },
    destination,
  )
}

/** Fields of every log entry. */
const common: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'reqId', 'run', 'cronjob', 'msg'])

/** Returns what a line says that a process of listeners has printed: a log entry, or anything else. */
export function readOutput(line: string): LoggedLine {
  try {
    if (line.startsWith('{"level":')) return readLine(line, undefined)
  } catch {
    // printed by other code
  }
  return { level: 'info', message: line, cronjob: undefined, fields: {} }
}

function readLine(text: string, error: unknown): LoggedLine {
  const line = JSON.parse(text) as Readonly<Record<string, unknown>>
  const isError = error instanceof Error
  const fields = Object.entries(line).filter(([name]) => !common.has(name) && !(isError && name === 'err'))
  const { level, msg = '', run, cronjob } = line
  return {
    level: pino.levels.labels[level as number] ?? String(level),
    message: typeof msg === 'string' ? msg : JSON.stringify(msg),
    cronjob: run === undefined ? undefined : (cronjob as string),
    fields: Object.fromEntries(fields),
    ...(isError ? { error } : {}),
  }
}
