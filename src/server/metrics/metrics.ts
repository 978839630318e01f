import type { MeasureTerms } from '../../events/index.ts'
import type { System } from '../../store/index.ts'
import { eventMetrics } from './event-metrics.ts'
import { formatMetrics } from './format.ts'
import { processMetrics } from './process-metrics.ts'
import { serverMetrics, type MeasuredServer } from './server-metrics.ts'

/** What `/metrics` says. Who asks while System is being measured gets the same answer: it is measured once. */
export function makeMetrics(system: System, server: MetricsServer): () => Promise<string> {
  let running: Promise<string> | undefined
  return () => {
    running ??= measure(system, server).finally(() => (running = undefined))
    return running
  }
}

export interface MetricsServer extends MeasuredServer {
  /** Of the release that it serves. */
  terms(): MeasureTerms
}

async function measure(system: System, server: MetricsServer): Promise<string> {
  return formatMetrics([...(await eventMetrics(system, server.terms())), ...serverMetrics(server), ...processMetrics()])
}
