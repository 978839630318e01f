import type { System } from '../../store/index.ts'
import { eventMetrics } from './event-metrics.ts'
import { formatMetrics } from './format.ts'
import { processMetrics } from './process-metrics.ts'
import { serverMetrics, type MeasuredServer } from './server-metrics.ts'

/** What `/metrics` says. Who asks while System is being measured gets the same answer: it is measured once. */
export function makeMetrics(system: System, server: MeasuredServer): () => Promise<string> {
  let running: Promise<string> | undefined
  return () => {
    running ??= measure(system, server).finally(() => (running = undefined))
    return running
  }
}

async function measure(system: System, server: MeasuredServer): Promise<string> {
  return formatMetrics([...(await eventMetrics(system)), ...serverMetrics(server), ...processMetrics()])
}
