import { errors } from '../errors.ts'

export const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost'] as const

const maxLength = 2048
const maxPerClient = 20

// The characters of RFC 3986 except "#". Browsers interpret backslashes, spaces and control characters differently.
const allowedText = /^[\w\-.~:/?[\]@!$&'()*+,;=%]+$/
const scheme = /^([a-z][a-z0-9+\-.]*):/
const host = /^([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[1-9]\d{0,4})?$/

/**
 * Checks the redirect URIs of a client and removes duplicates. Allowed are https, http to this machine, and private
 * schemes of apps (RFC 8252 §7).
 * @throws WP_AUTH_REDIRECT_URI, WP_AUTH_REDIRECT_URIS
 */
export function checkRedirectUris(uris: readonly string[]): readonly string[] {
  const each = [...new Set(uris)]
  if (each.length > maxPerClient) throw errors.WP_AUTH_REDIRECT_URIS({ count: each.length, limit: maxPerClient })
  for (const uri of each) {
    const reason = findProblem(uri) ?? findReserved(uri)
    if (reason !== undefined) throw errors.WP_AUTH_REDIRECT_URI({ uri: uri.slice(0, 200), reason })
  }
  return each
}

/**
 * Whether a browser may be redirected to a URI. Also protects against invalid URIs that reached System in another way.
 */
export function isRedirectUri(uri: string): boolean {
  return findProblem(uri) === undefined
}

function findProblem(uri: string): string | undefined {
  if (uri.length > maxLength) return `it is longer than ${maxLength} characters`
  if (uri.includes('#')) return 'it has a fragment'
  if (!allowedText.test(uri)) return 'it contains a character that is not allowed in a URI'
  const schemeName = scheme.exec(uri)?.[1]
  if (schemeName === undefined || !URL.canParse(uri)) return 'it is not absolute'
  const rest = uri.slice(schemeName.length + 1)
  const authority = rest.startsWith('//') ? rest.slice(2).split(/[/?]/, 1)[0]! : undefined
  if (authority?.includes('@') === true) return 'it has a user name'
  if (schemeName === 'http' || schemeName === 'https') return findWebProblem(schemeName, authority)
  // RFC 8252 §7.1: the reversed domain of the app's maker, which also excludes javascript:, data: and file:
  return schemeName.includes('.') ? undefined : `the scheme "${schemeName}" is not private to one app`
}

/** The parameters of a response, which must not be in it twice (RFC 6749 §3.1). */
const responseParameters = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const

function findReserved(uri: string): string | undefined {
  const { searchParams } = new URL(uri)
  const name = responseParameters.find((one) => searchParams.has(one))
  return name === undefined ? undefined : `its query has "${name}", which the response adds`
}

function findWebProblem(named: 'http' | 'https', authority: string | undefined): string | undefined {
  const found = host.exec(authority ?? '')?.[1]
  if (found === undefined) return 'its host is not valid'
  if (named === 'http' && !isLoopbackHost(found)) return 'http is only allowed for loopback addresses'
  // Browsers convert 127.1 and 0x7f000001 to 127.0.0.1, so require the normalized host.
  if (new URL(`${named}://${found}`).hostname !== found.toLowerCase()) return 'browsers normalize its host differently'
  return undefined
}

export function isLoopbackHost(name: string): boolean {
  return (loopbackHosts as readonly string[]).includes(name)
}

/**
 * Whether the redirect URI of a request equals a registered one, character by character (RFC 9700 §2.1). For loopback
 * addresses, any port matches, because apps get a free port from the operating system (RFC 8252 §7.3).
 */
export function isSameRedirectUri(requested: string, registered: string): boolean {
  if (requested === registered) return true
  const wanted = splitLoopback(requested)
  const known = splitLoopback(registered)
  if (wanted === undefined || known === undefined) return false
  return wanted.host === known.host && wanted.rest === known.rest
}

/**
 * Whether a redirect URI may lead to a program on the user's device, which could be any program. True for everything
 * except websites.
 */
export function leadsToDevice(uri: string): boolean {
  const [, host] = /^https:\/\/(\[[^\]]*\]|[^:/?]*)/.exec(uri) ?? []
  return host === undefined || isOnDevice(host)
}

const thisDevice = /^((.+\.)?localhost\.?|127(\.\d+){3}|\[::1\])$/i

/** Whether browsers treat a host as this device: 127.0.0.0/8 and all names below `localhost` (RFC 6761 §6.3). */
export function isOnDevice(host: string): boolean {
  return thisDevice.test(host)
}

const loopback = /^http:\/\/(\[::1\]|[a-z0-9.]+)(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/

function splitLoopback(uri: string): { host: string; rest: string } | undefined {
  const [, host = '', port = '80', rest = ''] = loopback.exec(uri) ?? []
  return isLoopbackHost(host) && Number(port) <= 65_535 ? { host, rest } : undefined
}
