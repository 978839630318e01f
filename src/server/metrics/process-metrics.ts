import { droppedLogLines } from '../../host/index.ts'
import { version } from '../../kit/index.ts'
import type { Metric } from './format.ts'

/** Metrics of the responding process, with the names that Prometheus client libraries use. */
export function processMetrics(): readonly Metric[] {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  return [
    {
      name: 'waypost_info',
      type: 'gauge',
      help: 'The version of Waypost.',
      samples: [{ labels: { version, node: process.version }, value: 1 }],
    },
    {
      name: 'waypost_log_lines_dropped_total',
      type: 'counter',
      help: 'Log lines that this process could not write.',
      samples: [{ value: droppedLogLines() }],
    },
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'CPU time of this process.',
      samples: [{ value: (user + system) / 1e6 }],
    },
    {
      name: 'process_resident_memory_bytes',
      type: 'gauge',
      help: 'Memory of this process.',
      samples: [{ value: rss }],
    },
    {
      name: 'nodejs_heap_size_used_bytes',
      type: 'gauge',
      help: 'Memory used by JavaScript.',
      samples: [{ value: heapUsed }],
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      help: 'Start time of this process, in seconds since 1970.',
      samples: [{ value: Math.round(Date.now() / 1000 - process.uptime()) }],
    },
  ]
}
