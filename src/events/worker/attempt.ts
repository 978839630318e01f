import type { Settings } from '../../kit/index.ts'
import type { Outbound, PostResult } from '../../outbound/index.ts'
import type { makeKeyring } from '../signing/signing-secrets.ts'
import { signatureHeaders } from '../signing/signature.ts'
import type { Loaded } from './queues.ts'

// One attempt to deliver: a POST, and what its result means.

export interface AttemptOptions {
  readonly outbound: Outbound
  /** `waypost/<version>@<build_hash>` */
  readonly userAgent: string
  settings(): Settings
}

/**
 * Sends one signed POST with exactly the dispatched data.
 * @param startedAt the database's time
 * @returns the result, which contains the failure of the POST
 * @throws WP_STORE_SEALED
 */
export function deliver(
  options: AttemptOptions,
  { id, content, recipient }: Loaded,
  { keyring, startedAt, signal }: { keyring: ReturnType<typeof makeKeyring>; startedAt: number; signal: AbortSignal },
): Promise<PostResult> {
  return options.outbound.post({
    url: recipient.endpoint,
    headers: {
      'content-type': 'application/json',
      'user-agent': options.userAgent,
      'waypost-event': content.event,
      ...signatureHeaders({ id, body: content.data, keys: keyring(recipient, startedAt), nowMs: startedAt }),
    },
    body: content.data,
    timeoutMs: options.settings().delivery_timeout,
    startedAt,
    signal,
  })
}

export type Outcome = 'delivered' | 'retrying' | 'dead'

/** What an attempt means for its delivery. */
export interface Verdict {
  readonly outcome: Outcome
  /** Milliseconds until the next attempt, for `retrying`. */
  readonly delayMs: number
}

const maxRetries = 3

/** Returns success, a retry (at most three), or the end. */
export function decideVerdict(settings: Settings, { failures }: Loaded, result: PostResult): Verdict {
  const { status = 0, retryAfterMs = 0 } = result
  if (status >= 200 && status < 300 && result.failure === undefined) return { outcome: 'delivered', delayMs: 0 }
  if (failures >= maxRetries) return { outcome: 'dead', delayMs: 0 }
  const delays = settings.delivery_delays
  const delay = delays[Math.min(failures, delays.length - 1)] ?? 0
  const jittered = delay * (0.8 + 0.4 * Math.random())
  return { outcome: 'retrying', delayMs: Math.ceil(Math.max(jittered, retryAfterMs)) }
}

/** One POST and its outcome. */
export interface Completion {
  readonly delivery: Loaded
  readonly result: PostResult
  /** By the database's clock. */
  readonly startedAt: number
  readonly verdict: Verdict
}

/** The outcome of one attempt, for progress output. */
export interface AttemptReport extends Verdict {
  readonly delivery: string
  readonly event: string
  readonly endpoint: string
  /** Number of the attempt, from 1. */
  readonly attempt: number
  readonly result: PostResult
}
