// A worker of `bench/listeners.ts` in its own process: Waypost's, that of graphile-worker, or of pg-boss. Runs until it is
// killed, and reports how many runs have ended.
import { Pool } from 'pg'
import { openHost } from '../src/host/index.ts'
import { executeHostEvents } from '../src/jobs/index.ts'
import type { WorkerPlace } from './delivery-site.ts'
import { loadPeer } from './peers.ts'

/** Runs at the same time, of each worker. */
export const concurrency = 100
const reportMs = 5
/** What the documentation of graphile-worker recommends for many small jobs. */
const tuned = { maxPoolSize: 20, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }

type Count = () => void

const roles: Readonly<Record<string, (place: WorkerPlace, count: Count) => Promise<void>>> = {
  waypost,
  graphile: (place, count) => graphile(place, count, tuned),
  graphileDefault: (place, count) => graphile(place, count, {}),
  boss,
}

if (import.meta.main) {
  let [ended, reported] = [0, 0]
  await roles[process.argv[2]!]!(JSON.parse(process.argv[3]!), () => void ended++)
  setInterval(() => {
    if (ended > reported) process.send!({ ended: (reported = ended) })
  }, reportMs)
  process.send!('ready')
}

async function waypost({ folder, variables }: WorkerPlace, count: Count): Promise<void> {
  const host = await openHost({ folder, variables })
  const onError = (error: unknown) => process.stderr.write(`${String(error)}\n`)
  void executeHostEvents(host, { watch: true, onRun: count, onError })
}

const insert = 'insert into bench_row (n) values (1)'

interface Helpers {
  query(text: string): Promise<unknown>
}

async function graphile({ url }: WorkerPlace, count: Count, settings: object): Promise<void> {
  const { Logger, run } = await loadPeer('graphile-worker')
  await run({
    preset: {
      worker: { connectionString: url, concurrentJobs: concurrency, ...settings },
    },
    logger: new Logger(() => () => undefined),
    noHandleSignals: true,
    parsedCronItems: [],
    taskList: {
      empty: async () => count(),
      write: async (_: unknown, helpers: Helpers) => {
        await helpers.query(insert)
        count()
      },
    },
  })
}

/** In batches, without a pause while they are full. */
async function boss({ url }: WorkerPlace, count: Count): Promise<void> {
  const { PgBoss } = await loadPeer('pg-boss')
  const queue = new PgBoss({ connectionString: url, max: 20 })
  const pool = new Pool({ connectionString: url, max: 20 })
  queue.on('error', (error) => process.stderr.write(`${String(error)}\n`))
  await queue.start()
  const options = { batchSize: concurrency, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }
  await queue.work('empty', options, async (jobs) => {
    jobs.forEach(count)
  })
  await queue.work('write', options, async (jobs) => {
    await Promise.all(
      jobs.map(async () => {
        await pool.query(insert)
        count()
      }),
    )
  })
}
