import type { AddressedRequest } from './address-request.ts'
import { encodeBytes } from './query-parameters.ts'

/**
 * Where an answer goes: the redirect URI with its own query kept, and `state` and `iss` on success and error alike
 * (RFC 6749 §4.1.2, RFC 9207 §2).
 */
export function makeAnswerUri(
  { redirectUri, parameters }: AddressedRequest,
  issuer: string,
  answer: Readonly<Record<string, string>>,
): string {
  const pairs = Object.entries({ ...answer, iss: issuer }).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  )
  const state = parameters.bytes('state')
  if (state !== undefined) pairs.push(`state=${encodeBytes(state)}`)
  return `${redirectUri}${separatorOf(redirectUri)}${pairs.join('&')}`
}

function separatorOf(uri: string): string {
  if (!uri.includes('?')) return '?'
  return /[?&]$/.test(uri) ? '' : '&'
}

const origin = /^https?:\/\/[A-Za-z0-9.-]+(:\d+)?(?=[/?]|$)/

/**
 * The source of a redirect URI for `form-action`, which Chromium applies to every redirect that a form leads to. A
 * policy knows no IPv6 address and an app's own scheme has no host: there it is the scheme.
 */
export function formSourceOf(redirectUri: string): string {
  return origin.exec(redirectUri)?.[0] ?? redirectUri.slice(0, redirectUri.indexOf(':') + 1)
}

/** Where the browser goes next, for the user: the host with its port, or the scheme. */
export function redirectHostOf(redirectUri: string): string {
  return /^https?:\/\/([^/?]+)/.exec(redirectUri)?.[1] ?? formSourceOf(redirectUri)
}
