import { errors } from '../errors.ts'

export const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost'] as const

const longest = 2048
const mostOfAClient = 20

// RFC 3986's characters without "#". A backslash, a space or a control character is read in one way here and in another
// one by a browser.
const allowedText = /^[\w\-.~:/?[\]@!$&'()*+,;=%]+$/
const scheme = /^([a-z][a-z0-9+\-.]*):/
const host = /^([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[1-9]\d{0,4})?$/

/**
 * Reads the redirect URIs that a client is to have, each once: https, http to this machine, or a scheme of an app's own
 * (RFC 8252 §7).
 * @throws WP_AUTH_REDIRECT_URI, WP_AUTH_REDIRECT_URIS
 */
export function checkRedirectUris(uris: readonly string[]): readonly string[] {
  const each = [...new Set(uris)]
  if (each.length > mostOfAClient) throw errors.WP_AUTH_REDIRECT_URIS({ count: each.length, limit: mostOfAClient })
  for (const uri of each) {
    const reason = findFlaw(uri)
    if (reason !== undefined) throw errors.WP_AUTH_REDIRECT_URI({ uri: uri.slice(0, 200), reason })
  }
  return each
}

/** Whether a browser may be sent to a redirect URI: one that got into System by another way is used by nobody. */
export function isRedirectUri(uri: string): boolean {
  return findFlaw(uri) === undefined
}

function findFlaw(uri: string): string | undefined {
  if (uri.length > longest) return `it is longer than ${longest} characters`
  if (uri.includes('#')) return 'it has a fragment'
  if (!allowedText.test(uri)) return 'it contains a character that is not allowed in a URI'
  const named = scheme.exec(uri)?.[1]
  if (named === undefined || !URL.canParse(uri)) return 'it is not absolute'
  const rest = uri.slice(named.length + 1)
  const authority = rest.startsWith('//') ? rest.slice(2).split(/[/?]/, 1)[0]! : undefined
  if (authority?.includes('@') === true) return 'it has a user name'
  if (named === 'http' || named === 'https') return findWebFlaw(named, authority)
  // RFC 8252 §7.1: a domain that the app's maker has, reversed; so no javascript:, data: or file: either
  return named.includes('.') ? undefined : `the scheme "${named}" is not private to one app`
}

function findWebFlaw(named: 'http' | 'https', authority: string | undefined): string | undefined {
  const found = host.exec(authority ?? '')?.[1]
  if (found === undefined) return 'its host is not valid'
  if (named === 'http' && !isLoopbackHost(found)) return 'http is only allowed for loopback addresses'
  // 127.1 and 0x7f000001 are 127.0.0.1 for a browser: what is asked of a host has to be asked of what it is.
  if (new URL(`${named}://${found}`).hostname !== found.toLowerCase()) return 'browsers normalize its host differently'
  return undefined
}

export function isLoopbackHost(name: string): boolean {
  return (loopbackHosts as readonly string[]).includes(name)
}

/**
 * Whether a request's redirect URI is a registered one: character for character (RFC 9700 §2.1). Only on this machine
 * the port is free, since an app there takes the one that it is given (RFC 8252 §7.3).
 */
export function isSameRedirectUri(requested: string, registered: string): boolean {
  if (requested === registered) return true
  const wanted = splitLoopback(requested)
  const known = splitLoopback(registered)
  if (wanted === undefined || known === undefined) return false
  return wanted.host === known.host && wanted.rest === known.rest
}

/** Whether a redirect URI leads to a program on the user's own machine, which could be any: all but a web site does. */
export function leadsToDevice(uri: string): boolean {
  const [, host] = /^https:\/\/(\[[^\]]*\]|[^:/?]*)/.exec(uri) ?? []
  return host === undefined || isOnDevice(host)
}

const thisDevice = /^((.+\.)?localhost\.?|127(\.\d+){3}|\[::1\])$/i

/** Whether a host is this machine for a browser: all of 127.0.0.0/8 is, and whatever ends in `localhost` (RFC 6761 §6.3). */
export function isOnDevice(host: string): boolean {
  return thisDevice.test(host)
}

const loopback = /^http:\/\/(\[::1\]|[a-z0-9.]+)(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/

function splitLoopback(uri: string): { host: string; rest: string } | undefined {
  const [, host = '', port = '80', rest = ''] = loopback.exec(uri) ?? []
  return isLoopbackHost(host) && Number(port) <= 65_535 ? { host, rest } : undefined
}
