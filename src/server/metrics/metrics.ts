import type { EventTerms } from '../../events/index.ts'
import type { System } from '../../store/index.ts'
import { eventMetrics } from './event-metrics.ts'
import { formatMetrics, type Metric } from './format.ts'
import { processMetrics } from './process-metrics.ts'
import type { OpenStreams, Pressure } from '../../runtime/index.ts'
import type { Readiness } from '../readiness.ts'

/** Makes the function that renders `/metrics`. Concurrent requests share one measurement of System. */
export function makeMetrics(system: System, server: MetricsServer): () => Promise<string> {
  let running: Promise<string> | undefined
  return () => {
    running ??= measure(system, server).finally(() => (running = undefined))
    return running
  }
}

export interface MetricsServer extends MeasuredServer {
  /** Returns the terms of the release being served. */
  terms(): EventTerms
}

async function measure(system: System, server: MetricsServer): Promise<string> {
  return formatMetrics([...(await eventMetrics(system, server.terms())), ...serverMetrics(server), ...processMetrics()])
}

export interface MeasuredServer {
  readonly readiness: Pick<Readiness, 'isBehind'>
  readonly pressure: Pressure | undefined
  readonly streams: Pick<OpenStreams, 'size'>
}

/** Metrics of the responding server. */
export function serverMetrics({ readiness, pressure, streams }: MeasuredServer): readonly Metric[] {
  return [
    {
      name: 'waypost_release_behind',
      type: 'gauge',
      help: '1 if the active release failed to start on this server, which serves an earlier release or none.',
      samples: [{ value: readiness.isBehind ? 1 : 0 }],
    },
    {
      name: 'waypost_streams_open',
      type: 'gauge',
      help: 'Event streams and JSON lines that this server is sending.',
      samples: [{ value: streams.size }],
    },
    ...(pressure === undefined
      ? []
      : [
          {
            name: 'nodejs_eventloop_lag_seconds',
            type: 'gauge' as const,
            help: 'Average event loop delay over the last second.',
            samples: [{ value: pressure.delayMs() / 1000 }],
          },
        ]),
  ]
}
