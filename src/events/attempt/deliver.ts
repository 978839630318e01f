import { messageOf, type Clock, type Settings } from '../../kit/index.ts'
import type { Outbound, PostResult } from '../../outbound/index.ts'
import type { ClaimedDelivery } from '../queue/claim.ts'
import { type SecretOpener, openSigningSecrets } from '../signing/signing-secrets.ts'
import { signatureHeaders } from '../signing/signature.ts'

export interface DeliverOptions {
  readonly secrets: SecretOpener
  readonly outbound: Outbound
  readonly clock: Clock
  /** `waypost/<version>@<build_hash>` */
  readonly userAgent: string
  settings(): Settings
}

/** The result of a POST, and its start by the database's clock. */
export interface DeliverResult {
  readonly result: PostResult
  readonly startedAt: number
}

const reserveMs = 5000

/**
 * Sends one signed POST with exactly the dispatched data. Returns undefined without posting when the lease is too short
 * for the POST to finish 5 s before it expires.
 */
export async function deliver(options: DeliverOptions, delivery: ClaimedDelivery): Promise<DeliverResult | undefined> {
  const timeoutMs = computeTimeout(options, delivery)
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

function computeTimeout({ clock, settings }: DeliverOptions, delivery: ClaimedDelivery): number | undefined {
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
