import { hideSecretsInUrl, toPrintable } from '../../src/kit/index.ts'
import type { AttemptReport, RunReport } from '../../src/operate/index.ts'
import { formatMs } from './dev-lines.ts'
import { paint } from './format.ts'

/**
 * Formats an attempt for the output of `dev`: symbol, event, endpoint, response, duration, and what follows a failure.
 */
export function formatDelivered(attempt: AttemptReport): string {
  const symbol = attempt.outcome === 'delivered' ? '✓' : paint('red', '✗')
  const parts = [`event  ${symbol} ${routeOf(attempt)}`, reasonOf(attempt), formatMs(attempt.result.latencyMs)]
  if (attempt.outcome === 'retrying') parts.push(`again ${describeNext(attempt)}`)
  if (attempt.outcome === 'dead') parts.push(`dead: ${paint('cyan', `npx ${replayCommand(attempt)}`)}`)
  return parts.join('   ')
}

/** Formats a run of a listener for the output of `dev`. */
export function formatRan({ run, listener, verdict, latencyMs, reason, delayMs, attempt }: RunReport): string {
  const isFailed = ['dead', 'lost', 'retrying'].includes(verdict)
  const symbol = verdict === 'done' ? '✓' : isFailed ? paint('red', '✗') : '-'
  const parts = [`run    ${symbol} ${listener}`]
  if (verdict === 'discarded' || verdict === 'postponed') parts.push(verdict)
  if (reason !== undefined) parts.push(toPrintable(reason.split('\n', 1)[0]!))
  parts.push(formatMs(latencyMs))
  if (verdict === 'retrying') parts.push(`again ${formatClock(Date.now() + delayMs)} (attempt ${attempt + 1})`)
  if (verdict === 'repeated' || verdict === 'lost') parts.push('again, without counting')
  if (verdict === 'dead') parts.push(`dead: ${paint('cyan', `npx waypost event:replay ${run}`)}`)
  return parts.join('   ')
}

/** Formats a failed attempt for `event:execute`, with the time of the next attempt or the command to replay it. */
export function formatFailedAttempt(attempt: AttemptReport): string {
  const next = attempt.outcome === 'dead' ? replayCommand(attempt) : `next ${describeNext(attempt)}`
  return [`${attempt.outcome.padEnd(8)}  ${routeOf(attempt)}`, reasonOf(attempt), next].join('   ')
}

/** Returns an endpoint without parts that may be secret. */
export function formatEndpoint(endpoint: string): string {
  return hideSecretsInUrl(endpoint).replace(/\/\/[^/@]*@/, '//…@')
}

/** Formats a local time: `14:05:31`. */
export function formatClock(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8)
}

function routeOf({ event, endpoint }: AttemptReport): string {
  return `${toPrintable(event)} → ${formatEndpoint(endpoint)}`
}

function reasonOf({ result: { failure, status } }: AttemptReport): string {
  return failure === undefined ? String(status) : toPrintable(failure)
}

function describeNext({ delayMs, attempt }: AttemptReport): string {
  return `${formatClock(Date.now() + delayMs)} (attempt ${attempt + 1} of 4)`
}

function replayCommand({ delivery }: AttemptReport): string {
  return `waypost event:replay ${delivery}`
}
