import { parseDuration, variable, type Variables } from '../kit/index.ts'
import type { Address } from '../runtime/index.ts'
import { errors } from './errors.ts'
import { readPort } from './read-variables.ts'

/** How a server ends. */
export interface Stopping {
  /** How long it takes requests on, while load balancers learn that it is not ready any more. */
  readonly delayMs: number
  /** How long requests in flight are waited for then. */
  readonly limitMs: number
}

/** `WAYPOST_STOP_DELAY` and `WAYPOST_STOP_LIMIT`. @throws WP_SERVER_DURATION */
export function readStopping(variables: Variables): Stopping {
  return {
    delayMs: readDuration(variables, 'WAYPOST_STOP_DELAY') ?? 2000,
    limitMs: readDuration(variables, 'WAYPOST_STOP_LIMIT') ?? 10_000,
  }
}

/** How late the event loop may be: `WAYPOST_PRESSURE_LIMIT`; undefined when it is off. @throws WP_SERVER_DURATION */
export function readPressureLimit(variables: Variables): number | undefined {
  if (variable(variables, 'WAYPOST_PRESSURE_LIMIT') === 'off') return undefined
  return readDuration(variables, 'WAYPOST_PRESSURE_LIMIT') ?? 1000
}

/**
 * How many connections are open at most: `WAYPOST_CONNECTION_LIMIT`; by default 10,000, or three quarters of the files
 * that this process may have open where that is less. @throws WP_SERVER_CONNECTION_LIMIT
 */
export function readConnectionLimit(variables: Variables): number {
  const text = variable(variables, 'WAYPOST_CONNECTION_LIMIT')
  if (text === undefined) return Math.min(10_000, Math.floor((readOpenFileLimit() * 3) / 4))
  if (!/^[1-9]\d{0,6}$/.test(text)) throw errors.WP_SERVER_CONNECTION_LIMIT({ value: text })
  return Number(text)
}

/** The rest is for databases, deliveries, code and logs. */
function readOpenFileLimit(): number {
  const report = process.report as typeof process.report & { excludeNetwork: boolean }
  const { excludeNetwork } = report
  report.excludeNetwork = true // else the names of all hosts that it is connected to are looked up
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } }
  report.excludeNetwork = excludeNetwork
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Infinity
}

/**
 * Where health and metrics are told without a token: the given port or `OPS_PORT`, on `OPS_HOST`, which is this machine
 * by default. Undefined without a port. @throws WP_SERVER_NUMBER
 */
export function readOpsAddress(variables: Variables, given: number | undefined): Address | undefined {
  if (given === undefined && variable(variables, 'OPS_PORT') === undefined) return undefined
  const port = readPort(variables, given, 'OPS_PORT')
  return { host: variable(variables, 'OPS_HOST') ?? '127.0.0.1', port, flag: '--ops-port' }
}

function readDuration(variables: Variables, name: string): number | undefined {
  const text = variable(variables, name)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined || ms > longestMs) throw errors.WP_SERVER_DURATION({ name, value: text })
  return ms
}

const longestMs = 3_600_000
