import type { Pressure } from '../../runtime/index.ts'
import type { Readiness } from '../readiness.ts'
import type { Metric } from './format.ts'

export interface MeasuredServer {
  readonly readiness: Pick<Readiness, 'isBehind'>
  readonly pressure: Pressure | undefined
}

/** The server that answers. */
export function serverMetrics({ readiness, pressure }: MeasuredServer): readonly Metric[] {
  return [
    {
      name: 'waypost_release_behind',
      type: 'gauge',
      help: '1 while the active release does not come up on this server, which serves an earlier one or none.',
      samples: [{ value: readiness.isBehind ? 1 : 0 }],
    },
    ...(pressure === undefined
      ? []
      : [
          {
            name: 'nodejs_eventloop_lag_seconds',
            type: 'gauge' as const,
            help: 'How late the event loop was, on average over the last second.',
            samples: [{ value: pressure.delayMs() / 1000 }],
          },
        ]),
  ]
}
