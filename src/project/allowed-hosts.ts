import { isIP } from 'node:net'
import { errors } from './errors.ts'

export interface HostCheckOptions {
  /** The listening address. */
  readonly listening: string
  readonly baseUrl: string
  /** The values of `--allow-host`. */
  readonly allowed: readonly string[]
}

/**
 * Checks a `Host` header.
 * @returns the host if its requests are rejected
 */
export type HostCheck = (header: string | undefined) => string | undefined

/**
 * Decides which hosts `dev` accepts. Otherwise a page of another site whose name resolves to 127.0.0.1 (DNS rebinding)
 * could use the API. A page cannot do that with an IP address, so all addresses are accepted if `dev` listens on all
 * addresses.
 * @throws WP_PROJECT_ALLOW_HOST
 */
export function makeHostCheck({ listening, baseUrl, allowed }: HostCheckOptions): HostCheck {
  const isEvery = listening === '0.0.0.0' || listening === '::'
  const own = listening.includes(':') ? `[${listening}]` : listening
  const names = new Set([readHost(own), new URL(baseUrl).hostname, ...allowed.map(readAllowed)])
  return (header) => {
    if (header === undefined) return undefined // HTTP/1.0, which browsers do not use
    const host = readHost(header)
    if (host === undefined) return header
    return isLoopbackHost(host) || names.has(host) || (isEvery && isAddress(host)) ? undefined : host
  }
}

/** Describes a rejected host for the developer, who may copy the command into a shell. */
export function describeRefusedHost(host: string): string {
  if (!/^[\w.:[\]-]+$/.test(host)) return 'refused a request with an invalid Host header'
  return `refused a request for the host ${host}; to allow it: waypost dev --allow-host ${host}`
}

/** Returns the normalized host of a `Host` header without its port; undefined if the header is invalid. */
function readHost(header: string): string | undefined {
  const url = /[\s/?#@\\]/.test(header) ? null : URL.parse(`http://${header}`)
  return url === null ? undefined : url.hostname.replace(/\.$/, '')
}

function readAllowed(value: string): string {
  const host = readHost(value)
  const hasPort = value.includes(':') && !value.endsWith(']')
  if (host === undefined || hasPort || host.includes('*')) throw errors.WP_PROJECT_ALLOW_HOST({ value })
  return host
}

/** Whether the host of a URL is this machine, by an address or a reserved name. */
export function isLoopbackHost(host: string): boolean {
  const isName = host === 'localhost' || host.endsWith('.localhost')
  return isName || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}
