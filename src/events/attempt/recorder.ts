import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isWaypostError, type Clock, type Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { recordCompletions } from './record-completions.ts'
import type { Completion } from './outcome.ts'
import { updateBreakers } from './update-breakers.ts'

/** Records the outcomes of deliveries. */
export interface Recorder {
  /**
   * Resolves when the outcome is written: with the recorded completion, or undefined if another worker took over the
   * claim.
   * @throws the database error once the lease has expired; the delivery is then posted again
   */
  record(completion: Completion): Promise<Completion | undefined>
}

interface Entry {
  readonly completion: Completion
  readonly done: PromiseWithResolvers<Completion | undefined>
  failures: number
}

const batchSize = 150
const maxPauseMs = 2000

/** Enough shards that two workers rarely count in the same rows. */
const shards = 64

export interface RecorderOptions {
  readonly system: System
  readonly clock: Clock
  settings(): Settings
}

/** How long a batch that is not full waits for more entries. */
const batchWaitMs = 20

/**
 * Batches the completions that arrive within a moment or while a batch is being written. One transaction for each would
 * cost more than the POST.
 */
export function makeRecorder({ system, clock, settings }: RecorderOptions): Recorder {
  const shard = randomInt(shards)
  const waiting: Entry[] = []
  let isWriting = false
  let onFull = () => {}

  async function writeAll(): Promise<void> {
    if (isWriting) return
    isWriting = true
    while (waiting.length > 0) {
      if (waiting.length < batchSize) await waitForMore()
      await writeBatch(waiting.splice(0, batchSize))
    }
    isWriting = false
  }

  async function waitForMore(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, batchWaitMs)
    onFull = resolve
    await promise
    clearTimeout(timer)
  }

  async function writeBatch(batch: readonly Entry[]): Promise<void> {
    try {
      const completions = batch.map((entry) => entry.completion)
      const recorded = await recordCompletions(system, { completions, shard })
      // Before the next deliveries are claimed. An error here must not fail the attempts: the next failure counts too.
      await updateBreakers(system, { completions: recorded, settings: settings() }).catch(() => undefined)
      const byClaim = new Map(recorded.map((completion) => [claimKey(completion), completion]))
      for (const { completion, done } of batch) done.resolve(byClaim.get(claimKey(completion)))
    } catch (error) {
      const isUnavailable = isWaypostError(error) && error.kind === 'external'
      if (isUnavailable || batch.length === 1) for (const entry of batch) void retryLater(entry, error)
      else for (const entry of batch) await writeBatch([entry]) // one of them may violate a constraint
    }
  }

  /** Retries the entry in a later batch, so that it does not delay the others. */
  async function retryLater(entry: Entry, error: unknown): Promise<void> {
    const { claimedMonotonic, leaseMs } = entry.completion.delivery
    // Retry once even after the lease: a process that was suspended finds its connections closed.
    if (entry.failures > 0 && clock.monotonic() >= claimedMonotonic + leaseMs) return entry.done.reject(error)
    await sleep(Math.min(100 * 2 ** entry.failures++, maxPauseMs))
    waiting.push(entry)
    await writeAll()
  }

  return {
    record(completion) {
      const done = Promise.withResolvers<Completion | undefined>()
      waiting.push({ completion, done, failures: 0 })
      if (waiting.length >= batchSize) onFull()
      void writeAll()
      return done.promise
    },
  }
}

/**
 * Identifies a claim. A batch can contain a delivery twice: under an expired claim and under the one that replaced it.
 */
function claimKey({ delivery }: Completion): string {
  return `${delivery.id} ${delivery.claimId}`
}
