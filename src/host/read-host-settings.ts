import { readFileSync } from 'node:fs'
import { parseDuration, variable, type Variables } from '../kit/index.ts'
import type { Address } from '../runtime/index.ts'
import { errors } from './errors.ts'
import { readPort } from './read-variables.ts'

/** How a server stops. */
export interface StopLimits {
  /** How long it still accepts requests, until load balancers notice that it is not ready. */
  readonly delayMs: number
  /** How long it then waits for requests in flight. */
  readonly limitMs: number
}

/**
 * Reads `WAYPOST_STOP_DELAY` and `WAYPOST_STOP_LIMIT`.
 * @throws WP_SERVER_DURATION
 */
export function readStopLimits(variables: Variables): StopLimits {
  return {
    delayMs: readDuration(variables, 'WAYPOST_STOP_DELAY') ?? 2000,
    limitMs: readDuration(variables, 'WAYPOST_STOP_LIMIT') ?? 10_000,
  }
}

/**
 * Reads `WAYPOST_PRESSURE_LIMIT`, the maximum delay of the event loop. Returns milliseconds, or undefined if it is
 * `off`.
 * @throws WP_SERVER_DURATION
 */
export function readPressureLimit(variables: Variables): number | undefined {
  if (variable(variables, 'WAYPOST_PRESSURE_LIMIT') === 'off') return undefined
  return readDuration(variables, 'WAYPOST_PRESSURE_LIMIT') ?? 1000
}

/**
 * Reads `WAYPOST_CONNECTION_LIMIT`, the maximum number of open connections. By default 10,000, or three quarters of the
 * files that this process may open if that is less.
 * @throws WP_SERVER_CONNECTION_LIMIT
 */
export function readConnectionLimit(variables: Variables): number {
  const text = variable(variables, 'WAYPOST_CONNECTION_LIMIT')
  if (text === undefined) return Math.min(10_000, Math.floor((readOpenFileLimit() * 3) / 4))
  if (!/^[1-9]\d{0,6}$/.test(text)) throw errors.WP_SERVER_CONNECTION_LIMIT({ value: text })
  return Number(text)
}

/** Returns the limit of open files. A quarter of it is left for databases, deliveries, code and logs. */
function readOpenFileLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return reportOpenFileLimit() // not Linux
  }
}

/** Of a diagnostic report, which describes the whole process, so that it takes longer with each open handle. */
function reportOpenFileLimit(): number {
  const report = process.report as typeof process.report & { excludeNetwork: boolean }
  const { excludeNetwork } = report
  report.excludeNetwork = true // otherwise the host names of all connections are looked up
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } }
  report.excludeNetwork = excludeNetwork
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Infinity
}

/**
 * Reads the address where health and metrics need no token: the given port or `OPS_PORT`, on `OPS_HOST`, by default
 * 127.0.0.1. Returns undefined without a port.
 * @throws WP_SERVER_NUMBER
 */
export function readOpsAddress(variables: Variables, given: number | undefined): Address | undefined {
  if (given === undefined && variable(variables, 'OPS_PORT') === undefined) return undefined
  const port = readPort(variables, given, 'OPS_PORT')
  return { host: variable(variables, 'OPS_HOST') ?? '127.0.0.1', port, flag: '--ops-port' }
}

/** Whether and where a server has a backend. */
export interface BackendSettings {
  /** `read` disables drafts and publishing, `off` the pages and the admin API. */
  readonly mode: 'on' | 'read' | 'off'
  /** The origin of a host of its own; undefined if it has the origin of the API. */
  readonly url: string | undefined
  /** Whether it shows rows of tables; undefined if that is not set. */
  readonly data: boolean | undefined
}

/**
 * Reads `WAYPOST_BACKEND`, `WAYPOST_BACKEND_URL` and `WAYPOST_BACKEND_DATA`.
 * @throws WP_SERVER_BACKEND, WP_SERVER_BACKEND_URL, WP_SERVER_BACKEND_DATA
 */
export function readBackendSettings(variables: Variables): BackendSettings {
  const mode = variable(variables, 'WAYPOST_BACKEND') ?? 'on'
  if (mode !== 'on' && mode !== 'read' && mode !== 'off') throw errors.WP_SERVER_BACKEND({ value: mode })
  const data = readData(variables)
  const text = variable(variables, 'WAYPOST_BACKEND_URL')
  if (text === undefined) return { mode, url: undefined, data }
  const url = URL.parse(text)
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (!isOrigin) throw errors.WP_SERVER_BACKEND_URL({ url: text })
  return { mode, url: url.origin, data }
}

function readData(variables: Variables): boolean | undefined {
  const value = variable(variables, 'WAYPOST_BACKEND_DATA')
  if (value !== undefined && value !== 'on' && value !== 'off') throw errors.WP_SERVER_BACKEND_DATA({ value })
  return value === undefined ? undefined : value === 'on'
}

/** Returns the URL below which the backend is; undefined if it is off. */
export function backendUrlOf({ mode, url }: BackendSettings, issuer: string): string | undefined {
  const { origin, pathname } = new URL(issuer)
  return mode === 'off' ? undefined : (url ?? origin) + pathname.replace(/\/$/, '')
}

function readDuration(variables: Variables, name: string): number | undefined {
  const text = variable(variables, name)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined || ms > maxDurationMs) throw errors.WP_SERVER_DURATION({ name, value: text })
  return ms
}

const maxDurationMs = 3_600_000
