import type { RedirectableRequest } from './resolve-redirect.ts'
import { encodeBytes } from './query-parameters.ts'

/**
 * Makes the redirect with the response: the redirect URI, including its own query, plus `state` and `iss` on success
 * and error (RFC 6749 §4.1.2, RFC 9207 §2).
 */
export function makeResponseUri(
  { redirectUri, parameters }: RedirectableRequest,
  issuer: string,
  response: Readonly<Record<string, string>>,
): string {
  const pairs = Object.entries({ ...response, iss: issuer }).map(
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
 * Returns the source expression of a redirect URI for `form-action`, which Chromium applies to all redirects after a
 * form submission. A policy cannot contain IPv6 addresses, and private schemes have no host; for these it is the
 * scheme.
 */
export function formSourceOf(redirectUri: string): string {
  return origin.exec(redirectUri)?.[0] ?? redirectUri.slice(0, redirectUri.indexOf(':') + 1)
}

/** Returns the redirect target to show to the user: the host with its port, or the scheme. */
export function redirectHostOf(redirectUri: string): string {
  return /^https?:\/\/([^/?]+)/.exec(redirectUri)?.[1] ?? formSourceOf(redirectUri)
}
