// A worker of `bench/deliveries.ts` in its own process: Waypost's, or graphile-worker with batching.
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, request } from 'undici'
import { executeHostEvents } from '../src/jobs/index.ts'
import { openHost } from '../src/host/index.ts'
import { concurrency, type WorkerPlace } from './delivery-site.ts'
import { loadPeer } from './peers.ts'

/** The cost of delivering everything that was due. */
export interface WorkReport {
  readonly delivered: number
  readonly ms: number
  /** Processor time of the worker itself. */
  readonly cpuMicros: number
  /** Peak memory of the process since its start, in megabytes. */
  readonly peakMb: number
}

/** The number of deliveries, and whether to stop after them even if there are more. */
export interface WorkOrder {
  readonly deliveries: number
  readonly isLimited?: boolean
  /** Continue when nothing is due, until the message `stop`. */
  readonly isWatch?: boolean
}

const stop = new AbortController()

type Work = (order: WorkOrder) => Promise<number>

const roles: Readonly<Record<string, (place: WorkerPlace) => Promise<Work>>> = { waypost, graphile }

if (import.meta.main) {
  const work = await roles[process.argv[2] ?? '']!(JSON.parse(process.argv[3]!))
  process.on('message', (order: WorkOrder | 'memory' | 'stop') => {
    if (order === 'memory') process.send!(readMemory())
    else if (order === 'stop') stop.abort()
    else void measure(work, order).then((report) => process.send!(report))
  })
  process.send!('ready')
}

async function measure(work: Work, order: WorkOrder): Promise<WorkReport> {
  const cpu = process.cpuUsage()
  const began = performance.now()
  const delivered = await work(order)
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  return { delivered, ms, cpuMicros: user + system, peakMb: readPeakMb() }
}

/** Memory of a worker in megabytes. */
export interface MemoryReport {
  readonly peakMb: number
  /** Reachable memory. */
  readonly liveMb: number
}

function readMemory(): MemoryReport {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return { peakMb: readPeakMb(), liveMb: (heapUsed + external) / 2 ** 20 }
}

function readPeakMb(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
}

async function waypost({ folder, variables }: WorkerPlace): Promise<Work> {
  const host = await openHost({ folder, variables })
  return async ({ deliveries, isLimited, isWatch }) => {
    const enough = new AbortController()
    let count = 0
    const onAttempt = () => void ((count += 1) === deliveries && isLimited && enough.abort())
    const signal = AbortSignal.any([stop.signal, enough.signal])
    return (await executeHostEvents(host, { concurrency, signal, watch: isWatch, onAttempt })).delivered
  }
}

/** Configured as its documentation recommends for many small jobs, without output for each job. */
async function graphile({ url }: WorkerPlace): Promise<Work> {
  const agent = new Agent({ connections: concurrency })
  const { Logger, run } = await loadPeer('graphile-worker')
  return async ({ deliveries }) => {
    const all = Promise.withResolvers<void>()
    let done = 0
    const runner = await run({
      preset: {
        worker: {
          connectionString: url,
          concurrentJobs: concurrency,
          maxPoolSize: concurrency + 2,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
      logger: new Logger(() => () => undefined),
      noHandleSignals: true,
      parsedCronItems: [],
      taskList: {
        deliver: async (job: unknown) => {
          const { endpoint, data } = job as { endpoint: string; data: unknown }
          const { statusCode, body } = await request(endpoint, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(data),
            dispatcher: agent,
          })
          await body.dump()
          if (statusCode !== 200) throw new Error(`the receiver answered ${statusCode}`)
          if (++done === deliveries) all.resolve()
        },
      },
    })
    await all.promise
    await runner.stop()
    return done
  }
}
