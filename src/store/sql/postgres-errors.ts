import { isWaypostError } from '../../kit/index.ts'
import { errors } from './errors.ts'

export interface PostgresTarget {
  readonly host: string
  readonly database: string
}

// connection exceptions; server stopping or starting; too many connections
const lostCodes = /^(08...|57P0[123]|53300|E[A-Z_]{3,})$/
const lostMessages = /^Connection terminated|is not queryable$/
const idleInTransaction = '25P03'
const diskFull = '53100'
const canceled = '57014'
/** The message of pg when a statement times out, for example on a half-open connection. */
export const queryTimedOut = 'Query read timeout'
const poolExhausted = 'timeout exceeded when trying to connect'
const poolEnded = 'Cannot use a pool after calling end on the pool'

/** Converts the error of a query: names the server if the connection was lost, otherwise returns PostgreSQL's error. */
export function explainQueryError(error: unknown, target: PostgresTarget): unknown {
  const { code, message } = error as { code?: string; message?: string }
  if (code === idleInTransaction) {
    return errors.WP_STORE_IDLE({ database: target.database }, { cause: error, retryAfterSeconds: 1 })
  }
  if (code === canceled && message?.includes('statement timeout') === true)
    return errors.WP_STORE_STATEMENT_TIMEOUT({ database: target.database }, { cause: error })
  if (code === diskFull) return errors.WP_STORE_FULL({ database: target.database }, { cause: error })
  const isLost = lostCodes.test(code ?? '') || lostMessages.test(message ?? '') || message === queryTimedOut
  return isLost ? unreachable(error, target) : error
}

/** Whether a prepared statement returns other columns since a table was changed. */
export function isStalePlan(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return code === '0A000' && message?.includes('cached plan') === true
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

/** Converts the error of a connection attempt, with or without the pool. */
export function explainConnectError(error: unknown, target: PostgresTarget, limitMs: number): Error {
  const { message } = error as { message?: string }
  if (message === poolEnded) return errors.WP_STORE_CLOSED({ database: target.database })
  if (message !== poolExhausted) return unreachable(error, target)
  return explainBusy(target, limitMs, error)
}

/** Returns the error if no connection became free in time. */
export function explainBusy({ database }: PostgresTarget, limitMs: number, cause?: unknown): Error {
  return errors.WP_STORE_BUSY({ database, seconds: limitMs / 1000 }, { cause, retryAfterSeconds: 1 })
}

/**
 * Whether PostgreSQL did not answer, or not yet. False for permanent errors such as a wrong password or certificate.
 */
export function isUnreachable(error: unknown): boolean {
  if (!isWaypostError(error) || error.code !== 'WP_STORE_UNREACHABLE') return false
  const { code } = firstError(error.cause) as { code?: string }
  return code === undefined || (lostCodes.test(code) && !code.startsWith('ERR_'))
}

/** Node tries every address of a host name and returns an AggregateError without a message. */
function firstError(error: unknown): unknown {
  return error instanceof AggregateError ? error.errors[0] : error
}

function unreachable(error: unknown, target: PostgresTarget): Error {
  const { message, code } = firstError(error) as { message?: string; code?: string }
  const reason = message || code || 'unknown'
  return errors.WP_STORE_UNREACHABLE({ ...target, reason }, { cause: error, retryAfterSeconds: 1 })
}
