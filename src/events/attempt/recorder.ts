import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isWaypostError, type Clock, type Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { recordCompletions } from './complete.ts'
import type { Completion } from './outcome.ts'
import { noteOutcomes } from './note-outcomes.ts'

/** Writes what became of deliveries. */
export interface Recorder {
  /**
   * Resolves when it is written: with what was recorded, or undefined if the claim was taken over meanwhile.
   * @throws what the database says until the lease is over; the delivery is posted again then
   */
  record(completion: Completion): Promise<Completion | undefined>
}

interface Entry {
  readonly completion: Completion
  readonly done: PromiseWithResolvers<Completion | undefined>
  failures: number
}

const batchSize = 100
const longestPauseMs = 2000

/** So many that two workers seldom count in the same rows. */
const shards = 64

export interface RecorderOptions {
  readonly system: System
  readonly clock: Clock
  settings(): Settings
}

/** How long a batch waits for more, unless it is as large as one may be. */
const gatherMs = 20

/**
 * What comes within a moment, or while a batch is being written, is one batch: a transaction for each would cost more
 * than a POST.
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
      if (waiting.length < batchSize) await gather()
      await writeBatch(waiting.splice(0, batchSize))
    }
    isWriting = false
  }

  async function gather(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, gatherMs)
    onFull = resolve
    await promise
    clearTimeout(timer)
  }

  async function writeBatch(batch: readonly Entry[]): Promise<void> {
    try {
      const completions = batch.map((entry) => entry.completion)
      const recorded = await recordCompletions(system, { completions, shard })
      // Before anybody claims what comes next. What cannot be noted is not worth the attempts: the next failure counts.
      await noteOutcomes(system, { completions: recorded, settings: settings() }).catch(() => undefined)
      const byClaim = new Map(recorded.map((completion) => [claimOf(completion), completion]))
      for (const { completion, done } of batch) done.resolve(byClaim.get(claimOf(completion)))
    } catch (error) {
      const isAway = isWaypostError(error) && error.kind === 'external'
      if (isAway || batch.length === 1) for (const entry of batch) void writeLater(entry, error)
      else for (const entry of batch) await writeBatch([entry]) // one of them may be what the database refuses
    }
  }

  /** Not in line with the others, which need not fail too. */
  async function writeLater(entry: Entry, error: unknown): Promise<void> {
    const { claimedMonotonic, leaseMs } = entry.completion.delivery
    // Once in any case: a process that was suspended finds its connections closed.
    if (entry.failures > 0 && clock.monotonic() >= claimedMonotonic + leaseMs) return entry.done.reject(error)
    await sleep(Math.min(100 * 2 ** entry.failures++, longestPauseMs))
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

/** A delivery may be in one batch twice: under a claim that was lost meanwhile, and under the next one. */
function claimOf({ delivery }: Completion): string {
  return `${delivery.id} ${delivery.claimId}`
}
