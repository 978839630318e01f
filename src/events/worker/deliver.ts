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

/** The result of a POST, and its start by the database's clock. */
export interface DeliverResult {
  readonly result: PostResult
  readonly startedAt: number
}

/**
 * Sends one signed POST with exactly the dispatched data.
 * @param startedAt the database's time
 * @param signal aborts it
 */
export async function deliver(
  options: DeliverOptions,
  delivery: Held,
  { startedAt, signal }: { readonly startedAt: number; readonly signal: AbortSignal },
): Promise<DeliverResult> {
  const { content, of } = delivery
  const secrets = unseal(options, of.recipient, startedAt)
  if (secrets instanceof Error) {
    return { startedAt, result: { failure: `the secret cannot be read: ${messageOf(secrets)}`, latencyMs: 0 } }
  }
  const result = await options.outbound.post({
    url: of.recipient.endpoint,
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
  return { startedAt, result }
}

function unseal(
  { secrets }: DeliverOptions,
  recipient: Held['of']['recipient'],
  now: number,
): readonly string[] | Error {
  try {
    return openSigningSecrets(secrets, recipient, now)
  } catch (error) {
    return error as Error
  }
}
