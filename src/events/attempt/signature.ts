import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new webhook secret in the form of Standard Webhooks: `whsec_` and 32 bytes in base64. */
export function makeWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** The headers by which a receiver knows a delivery (Standard Webhooks 1.0). */
export function signatureHeaders(delivery: { id: string; body: string; secrets: readonly string[]; nowMs: number }) {
  const timestamp = String(Math.floor(delivery.nowMs / 1000))
  const signatures = delivery.secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${delivery.id}.${timestamp}.${delivery.body}`).digest('base64')}`
  })
  return { 'webhook-id': delivery.id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
