import { messageOf, type Clock, type Settings } from '../../kit/index.ts'
import type { Outbound, PostResult } from '../../outbound/index.ts'
import type { ClaimedDelivery } from '../queue/claim.ts'
import { type Opener, openSigningSecrets } from '../signing/signing-secrets.ts'
import { signatureHeaders } from '../signing/signature.ts'

export interface DeliverOptions {
  readonly secrets: Opener
  readonly outbound: Outbound
  readonly clock: Clock
  /** `waypost/<version>@<build_hash>` */
  readonly userAgent: string
  settings(): Settings
}

/** What a POST came to, and when it began by the database's clock. */
export interface Delivered {
  readonly result: PostResult
  readonly startedAt: number
}

const reserveMs = 5000

/**
 * One signed POST of exactly the dispatched data; undefined, and nothing is posted, when too little of the lease is left
 * to end it 5 s before somebody else may begin.
 */
export async function deliver(options: DeliverOptions, delivery: ClaimedDelivery): Promise<Delivered | undefined> {
  const timeoutMs = timeoutWithin(options, delivery)
  if (timeoutMs === undefined) return undefined
  const startedAt = Math.round(delivery.claimedAt + options.clock.monotonic() - delivery.claimedMonotonic)
  const secrets = unseal(options, delivery, startedAt)
  if (secrets instanceof Error) {
    return { startedAt, result: { failure: `the secret cannot be read: ${messageOf(secrets)}`, latencyMs: 0 } }
  }
  const result = await options.outbound.post({
    url: delivery.endpoint,
    headers: {
      'content-type': 'application/json',
      'user-agent': options.userAgent,
      'waypost-event': delivery.event,
      ...signatureHeaders({ id: delivery.id, body: delivery.data, secrets, nowMs: startedAt }),
    },
    body: delivery.data,
    timeoutMs,
    startedAt,
  })
  return { startedAt, result }
}

function timeoutWithin({ clock, settings }: DeliverOptions, delivery: ClaimedDelivery): number | undefined {
  const { delivery_timeout: timeout } = settings()
  const leftMs = delivery.claimedMonotonic + delivery.leaseMs - clock.monotonic() - reserveMs
  const wantedMs = Math.min(timeout, delivery.leaseMs - reserveMs)
  return leftMs < wantedMs * 0.75 ? undefined : Math.floor(Math.min(wantedMs, leftMs))
}

function unseal({ secrets }: DeliverOptions, delivery: ClaimedDelivery, now: number): readonly string[] | Error {
  try {
    return openSigningSecrets(secrets, delivery, now)
  } catch (error) {
    return error as Error
  }
}
