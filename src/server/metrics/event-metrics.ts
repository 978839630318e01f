import {
  latencyBounds,
  loadAttemptTotals,
  loadRunTotals,
  measureEvents,
  type EventTerms,
  type RunTotal,
} from '../../events/index.ts'
import { latencyBoundsMs } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import type { Metric, Sample } from './format.ts'

const outcomes = ['delivered', 'retrying', 'dead'] as const

/** Measures the event queue and the results of attempts across all workers, so every server reports the same. */
export async function eventMetrics(system: System, options: EventTerms): Promise<readonly Metric[]> {
  const { messages, delayed, deliveries, runs, oldestDueMs } = await measureEvents(system, options)
  const attempts = await loadAttemptTotals(system)
  const ended = await loadRunTotals(system)
  return [
    {
      name: 'waypost_messages_waiting',
      type: 'gauge',
      help: 'Dispatched messages not yet fanned out to all subscriptions. Same value on every server.',
      samples: [{ value: messages }],
    },
    {
      name: 'waypost_messages_delayed',
      type: 'gauge',
      help: 'Delayed events that are not yet sent. Same value on every server.',
      samples: [{ value: delayed }],
    },
    {
      name: 'waypost_listener_runs',
      type: 'gauge',
      help: 'Runs of listeners by state: pending, running or dead. Same value on every server.',
      samples: Object.entries(runs).map(([state, value]) => ({ labels: { state }, value })),
    },
    {
      name: 'waypost_deliveries',
      type: 'gauge',
      help:
        'Deliveries by state: due, waiting for a retry, held by a paused subscription, an open circuit breaker or a ' +
        'release without their event, or dead. Messages count as the deliveries that they will become. ' +
        'Same value on every server.',
      samples: Object.entries(deliveries).map(([state, value]) => ({ labels: { state }, value })),
    },
    {
      name: 'waypost_delivery_oldest_due_seconds',
      type: 'gauge',
      help:
        'How long the oldest delivery that is not held has been due, counted from its dispatch while its ' +
        'message is not fanned out. Same value on every server.',
      samples: [{ value: oldestDueMs / 1000 }],
    },
    {
      name: 'waypost_delivery_attempts_total',
      type: 'counter',
      help: 'Delivery attempts of all workers, by outcome. Same value on every server.',
      samples: outcomes.map((outcome) => ({
        labels: { outcome },
        value: sum(attempts.filter((one) => one.outcome === outcome).map(({ count }) => count)),
      })),
    },
    {
      name: 'waypost_delivery_attempt_duration_seconds',
      type: 'histogram',
      help: 'Duration of the delivery attempts of all workers. Same value on every server.',
      samples: histogram(attempts, latencyBounds),
    },
    {
      name: 'waypost_listener_runs_total',
      type: 'counter',
      help: 'Runs of listeners that ended, of all workers, by listener and outcome. Same value on every server.',
      samples: countRuns(ended),
    },
    {
      name: 'waypost_listener_run_duration_seconds',
      type: 'histogram',
      help: 'Duration of the runs of listeners of all workers. Same value on every server.',
      samples: Object.entries(Object.groupBy(ended, ({ listener }) => listener)).flatMap(([listener, runs = []]) =>
        histogram(runs, latencyBoundsMs).map(({ labels, ...sample }) => ({
          ...sample,
          labels: { listener, ...labels },
        })),
      ),
    },
  ]
}

function countRuns(ended: readonly RunTotal[]): readonly Sample[] {
  const groups = Map.groupBy(ended, ({ listener, outcome }) => JSON.stringify({ listener, outcome }))
  return [...groups].map(([labels, runs]) => ({
    labels: JSON.parse(labels) as Record<string, string>,
    value: sum(runs.map(({ count }) => count)),
  }))
}

function histogram(
  attempts: readonly { bucket: number; count: number; sum_ms: number }[],
  bounds: readonly number[],
): readonly Sample[] {
  const upTo = (bucket: number) => sum(attempts.filter((one) => one.bucket <= bucket).map(({ count }) => count))
  const all = upTo(bounds.length)
  return [
    ...bounds.map((bound, bucket) => ({
      suffix: '_bucket',
      labels: { le: String(bound / 1000) },
      value: upTo(bucket),
    })),
    { suffix: '_bucket', labels: { le: '+Inf' }, value: all },
    { suffix: '_sum', value: sum(attempts.map((one) => one.sum_ms)) / 1000 },
    { suffix: '_count', value: all },
  ]
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
