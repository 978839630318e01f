import { messageOf, type Clock, type Settings } from '../../kit/index.ts'
import type { Outbound, PostResult } from '../../outbound/index.ts'
import { type SecretOpener, openSigningSecrets } from '../signing/signing-secrets.ts'
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

/**
 * Sends one signed POST with exactly the dispatched data.
 * @param startedAt the database's time
 * @param signal aborts it
 */
export function deliver(
  options: DeliverOptions,
  delivery: Held,
  { startedAt, signal }: { readonly startedAt: number; readonly signal: AbortSignal },
): Promise<PostResult> {
  const { content, recipient } = delivery
  const secrets = unseal(options, recipient, startedAt)
  if (secrets instanceof Error) {
    return Promise.resolve({ failure: `the secret cannot be read: ${messageOf(secrets)}`, latencyMs: 0 })
  }
  return options.outbound.post({
    url: recipient.endpoint,
    headers: {
      'content-type': 'application/json',
      'user-agent': options.userAgent,
      'waypost-event': content.event,
      ...signatureHeaders({ id: delivery.id, body: content.data, secrets, nowMs: startedAt }),
    },
    body: content.data,
    timeoutMs: options.settings().delivery_timeout,
    startedAt,
    signal,
  })
}

function unseal({ secrets }: DeliverOptions, recipient: Held['recipient'], now: number): readonly string[] | Error {
  try {
    return openSigningSecrets(secrets, recipient, now)
  } catch (error) {
    return error as Error
  }
}
