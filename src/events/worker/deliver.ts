import { messageOf, type Clock, type Settings } from '../../kit/index.ts'
import type { Outbound, PostResult } from '../../outbound/index.ts'
import type { makeKeyring, SecretOpener } from '../signing/signing-secrets.ts'
import { signatureHeaders } from '../signing/signature.ts'
import type { Held } from './memory.ts'

export interface DeliverOptions {
  readonly secrets: SecretOpener
  readonly outbound: Outbound
  readonly clock: Clock
  /** `waypost/<version>@<build_hash>` */
  readonly userAgent: string
  settings(): Settings
}

interface Attempt {
  readonly keyring: ReturnType<typeof makeKeyring>
  /** The database's time. */
  readonly startedAt: number
  /** Aborts it. */
  readonly signal: AbortSignal
}

/** Sends one signed POST with exactly the dispatched data. */
export function deliver(
  options: DeliverOptions,
  delivery: Held,
  { keyring, startedAt, signal }: Attempt,
): Promise<PostResult> {
  const { content, recipient } = delivery
  let keys
  try {
    keys = keyring(recipient, startedAt)
  } catch (error) {
    return Promise.resolve({ failure: `the secret cannot be read: ${messageOf(error)}`, latencyMs: 0 })
  }
  return options.outbound.post({
    url: recipient.endpoint,
    headers: {
      'content-type': 'application/json',
      'user-agent': options.userAgent,
      'waypost-event': content.event,
      ...signatureHeaders({ id: delivery.id, body: content.data, keys, nowMs: startedAt }),
    },
    body: content.data,
    timeoutMs: options.settings().delivery_timeout,
    startedAt,
    signal,
  })
}
