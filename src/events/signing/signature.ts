import { createHmac, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto'

const prefix = 'whsec_'

/** Makes a new webhook secret as Standard Webhooks defines it: `whsec_` and 32 bytes in base64. */
export function makeWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** Returns the bytes of a webhook secret with which it signs. */
export function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64')
}

/** What a delivery is signed with: one signature for each key. */
export interface Signing {
  readonly id: string
  readonly body: string
  readonly keys: readonly (KeyObject | Buffer)[]
  readonly nowMs: number
}

/** Returns the headers that identify and authenticate a delivery (Standard Webhooks 1.0). */
export function signatureHeaders(delivery: Signing) {
  const timestamp = String(Math.floor(delivery.nowMs / 1000))
  const signed = `${delivery.id}.${timestamp}.${delivery.body}`
  const signatures = delivery.keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  return { 'webhook-id': delivery.id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** A POST as a receiver sees it: `body` is the exact text that was received. */
export interface SignedPost {
  readonly id: string | undefined
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  readonly body: string
}

const toleranceS = 300

/** Describes what is wrong with the signature of a POST (Standard Webhooks 1.0). Returns undefined if it is valid. */
export function findSignatureProblem(post: SignedPost, secret: string, nowMs: number): string | undefined {
  const { id, timestamp = '', signature, body } = post
  if (id === undefined || signature === undefined || !/^\d{1,15}$/.test(timestamp)) return 'missing'
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceS) return 'more than 5 minutes old or in the future'
  const expected = signatureHeaders({ id, body, keys: [keyOf(secret)], nowMs: Number(timestamp) * 1000 })
  const isValid = signature.split(' ').some((one) => isEqual(one, expected['webhook-signature']))
  return isValid ? undefined : 'wrong'
}

function isEqual(text: string, expected: string): boolean {
  const [a, b] = [Buffer.from(text), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
