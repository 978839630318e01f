import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock, Settings } from '../kit/index.ts'
import type { Outbound, PostResult } from '../outbound/index.ts'
import type { Secrets, System } from '../store/index.ts'
import type { EventCatalog } from './catalog.ts'
import { claimDeliveries, type ClaimedDelivery } from './claim.ts'
import { completeDeliveries, judge, type Completion, type Verdict } from './complete.ts'
import { fanOutChunk } from './fan-out.ts'
import { secretPlace } from './subscriptions.ts'
import { signatureHeaders } from './signature.ts'

export interface ExecuteOptions {
  readonly system: System
  readonly secrets: Secrets
  readonly outbound: Outbound
  readonly clock: Clock
  /** `waypost/<version>@<build_hash>` */
  readonly userAgent: string
  catalog(): EventCatalog
  settings(): Settings
  /** Stops claiming; what is under way is finished. */
  readonly signal?: AbortSignal
  /** Go on when nothing is due, until the signal. */
  readonly watch?: boolean
  /** POSTs at once at most; the setting `delivery_concurrency` by default. */
  readonly concurrency?: number
  /** Called after each recorded attempt. */
  onAttempt?(attempt: AttemptReport): void
}

export interface AttemptReport {
  readonly delivery: string
  readonly event: string
  readonly endpoint: string
  readonly outcome: 'delivered' | 'retrying' | 'dead'
  /** Which attempt this was, from 1. */
  readonly attempt: number
  readonly result: PostResult
  readonly delayMs: number
}

export interface Summary {
  attempted: number
  delivered: number
  retrying: number
  dead: number
}

const idleMs = 250
const flushMs = 50
const leaseReserveMs = 5000

/** Delivers until nothing is due, or, watching, until the signal. Any number of these may run beside each other. */
export async function executeEvents(options: ExecuteOptions): Promise<Summary> {
  const summary: Summary = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }
  const running = new Set<Promise<void>>()
  const completions = makeCompletionBatcher(options, summary)
  const limit = options.concurrency ?? options.settings().delivery_concurrency

  while (!options.signal?.aborted) {
    const fanned = await fanOutChunk(options.system, options.catalog())
    const claimed = await claimWithinCaps(options, limit - running.size)
    for (const delivery of claimed) {
      const attempt = deliver(options, delivery).then(completions.add)
      running.add(attempt)
      void attempt.finally(() => running.delete(attempt)).catch(() => undefined)
    }
    if (fanned || (claimed.length > 0 && running.size < limit)) continue
    if (running.size > 0) await Promise.race([...running, sleep(idleMs)])
    else if (!options.watch) break
    else await sleep(idleMs, undefined, options.signal === undefined ? {} : { signal: options.signal }).catch(() => undefined)
  }
  await Promise.all(running)
  await completions.flush()
  return summary
}

async function claimWithinCaps(options: ExecuteOptions, free: number): Promise<readonly ClaimedDelivery[]> {
  return free <= 0 ? [] : claimDeliveries(options.system, options.settings(), free)
}

/** One signed POST of exactly the dispatched data. */
async function deliver(options: ExecuteOptions, delivery: ClaimedDelivery): Promise<Completion> {
  const settings = options.settings()
  const startedAt = options.clock.now()
  const secret = options.secrets.unseal(delivery.secret, secretPlace(delivery.subscription_id))
  const result = await options.outbound.post({
    url: delivery.endpoint,
    headers: {
      'content-type': 'application/json',
      'user-agent': options.userAgent,
      'waypost-event': delivery.event,
      ...signatureHeaders({ id: delivery.id, body: delivery.data, secrets: [secret], nowMs: startedAt }),
    },
    body: delivery.data,
    timeoutMs: Math.min(settings.delivery_timeout, settings.delivery_lease - leaseReserveMs),
  })
  return { delivery, result, startedAt }
}

/** Collects outcomes and writes them together: a transaction per attempt would cost more than the attempt. */
function makeCompletionBatcher(options: ExecuteOptions, summary: Summary) {
  let batch: { completion: Completion; verdict: Verdict; done: PromiseWithResolvers<void> }[] = []
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const current = batch
    batch = []
    try {
      await completeDeliveries(options.system, current)
    } catch (error) {
      for (const one of current) one.done.reject(error)
      return
    }
    for (const { completion, verdict, done } of current) {
      summary.attempted++
      summary[verdict.outcome]++
      const { delivery, result } = completion
      options.onAttempt?.({
        delivery: delivery.id,
        event: delivery.event,
        endpoint: delivery.endpoint,
        outcome: verdict.outcome,
        attempt: delivery.failures + 1,
        result,
        delayMs: verdict.delayMs,
      })
      done.resolve()
    }
  }

  return {
    flush,
    add(completion: Completion): Promise<void> {
      const done = Promise.withResolvers<void>()
      batch.push({ completion, verdict: judge(options.settings(), completion.delivery, completion.result), done })
      if (batch.length >= 100) void flush()
      else timer ??= setTimeout(() => void flush(), flushMs)
      return done.promise
    },
  }
}
