import { isLoopbackHost } from '../account/redirect-uris.ts'

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
