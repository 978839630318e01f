import { isWaypostError } from '../../kit/index.ts'
import { errors } from './errors.ts'
import { noTls } from './postgres-tls.ts'
import type { PostgresTarget } from './postgres-url.ts'

// connection exceptions; server stopping or starting, database dropped, idle for too long; too many connections
const lostCodes = /^(08...|57P0[12345]|53300|E[A-Z_]{3,})$/
const protocolViolation = '08P01'
/** Idle in a transaction, or in one for too long: PostgreSQL closed the connection. */
const endedCodes: ReadonlySet<unknown> = new Set(['25P03', '25P04'])
const diskFull = '53100'
const canceled = '57014'
const readOnly = '25006'

/**
 * Converts the error of a query: names the server if the connection was lost, otherwise returns PostgreSQL's error.
 * Decides by code only, because PostgreSQL writes messages in the language of `lc_messages`.
 */
export function explainQueryError(error: unknown, target: PostgresTarget): unknown {
  const { code, routine } = error as { code?: string; routine?: string }
  const { database } = target
  const options = { cause: error, retryAfterSeconds: 1 }
  if (endedCodes.has(code)) return errors.WP_STORE_IDLE({ database }, options)
  if (code === canceled) return errors.WP_STORE_STATEMENT_TIMEOUT({ database }, options)
  if (code === diskFull) return errors.WP_STORE_FULL({ database }, { cause: error })
  if (code === readOnly) return errors.WP_STORE_READ_ONLY({ ...target }, options)
  // PostgreSQL names the routine that refused values of a statement. A pooler that ends the connection names none.
  if (code === protocolViolation && routine !== undefined) return error
  return lostCodes.test(code ?? '') || isOfDriver(error) ? unreachable(error, target) : error
}

/** Whether a query failed in the driver: it has no answer, because the connection ended or a time passed. */
export function isOfDriver(error: unknown): boolean {
  return error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !('code' in error)
}

/** Whether the connection of a failed statement must not be used again. */
export function endsConnection(error: unknown): boolean {
  const { code } = error as { code?: string }
  return isWaypostError(error) ? endingCodes.has(error.code) : code === completionUnknown
}

const endingCodes: ReadonlySet<string> = new Set(['WP_STORE_UNREACHABLE', 'WP_STORE_IDLE', 'WP_STORE_READ_ONLY'])
const completionUnknown = '40003'

/** Whether a statement failed only because of others that ran at the same time, and stored nothing. */
export function isRepeatable(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === '40001' || code === '40P01'
}

/** Whether a prepared statement returns other columns since a table was changed. */
export function isStalePlan(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/** The server does not know a prepared statement, or knows another one of this name: a pooler is between. */
export function isForgotten(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === '26000' || code === '42P05'
}

/** Converts the error of a prepared statement that failed in a transaction only because it was prepared. */
export function explainStale(error: unknown): unknown {
  return isStalePlan(error) || isForgotten(error)
    ? errors.WP_STORE_STATEMENT_STALE({}, { cause: error, retryAfterSeconds: 1 })
    : error
}

/** What was asked for a connection. */
export interface ConnectAttempt {
  readonly target: PostgresTarget
  readonly limitMs: number
  /** Absent for a connection without the pool. */
  readonly pool?: {
    readonly isEnding: boolean
    /** Whether all its connections are used, so that the attempt waited for one of them and not for the server. */
    readonly isInUse: boolean
  }
}

/** Converts the error of a connection attempt, with or without the pool. */
export function explainConnectError(error: unknown, { target, limitMs, pool }: ConnectAttempt): Error {
  if (pool?.isEnding) return errors.WP_STORE_CLOSED({ database: target.database })
  if (isWaypostError(error)) return error
  return isOfDriver(error) && pool?.isInUse ? explainBusy(target, limitMs, error) : unreachable(error, target)
}

/** Returns the error if no connection became free in time. */
export function explainBusy({ database }: PostgresTarget, limitMs: number, cause?: unknown): Error {
  return errors.WP_STORE_BUSY({ database, seconds: limitMs / 1000 }, { cause, retryAfterSeconds: 1 })
}

/**
 * Whether PostgreSQL did not answer, or not yet, or only reads, as during a switchover. False for permanent errors such as
 * a wrong password or certificate.
 */
export function isUnreachable(error: unknown): boolean {
  if (!isWaypostError(error)) return false
  if (error.code !== 'WP_STORE_UNREACHABLE') return error.code === 'WP_STORE_READ_ONLY'
  const { code } = firstError(error.cause) as { code?: string }
  return code === undefined || (lostCodes.test(code) && !code.startsWith('ERR_'))
}

/** Node tries every address of a host name and returns an AggregateError without a message. */
function firstError(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error
}

// https://nodejs.org/api/tls.html#x509-certificate-error-codes
const certificateCodes =
  /^(UNABLE_TO_(GET|DECRYPT|DECODE|VERIFY)_\w+|CERT_\w+|CRL_\w+|ERROR_IN_C\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)$/

function unreachable(error: unknown, target: PostgresTarget): Error {
  const { message, code } = firstError(error) as { message?: string; code?: string }
  const reason = message || code || 'unknown'
  if (certificateCodes.test(code ?? ''))
    return errors.WP_STORE_CERTIFICATE({ host: target.host, reason }, { cause: error })
  if (message === noTls) return errors.WP_STORE_NO_TLS({ host: target.host }, { cause: error })
  return errors.WP_STORE_UNREACHABLE({ ...target, reason }, { cause: error, retryAfterSeconds: 1 })
}
