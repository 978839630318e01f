import { toPrintable } from '../../src/kit/index.ts'
import type { AttemptReport } from '../../src/operate/index.ts'
import { formatMs, hideSecrets } from './dev-lines.ts'
import { paint } from './format.ts'

/** One attempt in the log of `dev`: sign, event, endpoint, answer, how long it took, and what follows a failure. */
export function formatDelivered(attempt: AttemptReport): string {
  const sign = attempt.outcome === 'delivered' ? '✓' : paint('red', '✗')
  const parts = [`event  ${sign} ${routeOf(attempt)}`, reasonOf(attempt), formatMs(attempt.result.latencyMs)]
  if (attempt.outcome === 'retrying') parts.push(`again ${describeNext(attempt)}`)
  if (attempt.outcome === 'dead') parts.push(`dead: ${paint('cyan', `npx ${replayCommand(attempt)}`)}`)
  return parts.join('   ')
}

/** One attempt that failed, as `event:execute` prints it: with when it is tried again, or how somebody does that. */
export function formatFailedAttempt(attempt: AttemptReport): string {
  const next = attempt.outcome === 'dead' ? replayCommand(attempt) : `next ${describeNext(attempt)}`
  return [`${attempt.outcome.padEnd(8)}  ${routeOf(attempt)}`, reasonOf(attempt), next].join('   ')
}

/** An endpoint as it may be printed: without what is, or may be, a secret. */
export function formatEndpoint(endpoint: string): string {
  return hideSecrets(endpoint).replace(/\/\/[^/@]*@/, '//…@')
}

/** A time by the clock on the wall: `14:05:31`. */
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
